use crate::json::{JsonObject, Number, OtherName};

/// Hints about whom content is for and how much it matters.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Annotations {
    /// Whom the content is meant for.
    pub audience: Option<Vec<Role>>,
    /// How much it matters, from 0 (optional) to 1 (required).
    pub priority: Option<Number>,
    /// When it was last changed, an ISO 8601 time.
    pub last_modified: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(Annotations {
    optional: audience = "audience", priority = "priority", last_modified = "lastModified";
    rest: extra
});

/// Who speaks in a conversation with a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// The model.
    Assistant,
    /// The person, or whoever acts for one.
    User,
    /// A role this revision does not define.
    Other(OtherName),
}

names!(Role {
    Assistant = "assistant",
    User = "user",
});
