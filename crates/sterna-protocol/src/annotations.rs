//! Annotations of content and resources, and the roles of a conversation.

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

impl Annotations {
    /// No hints.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_protocol::content::{Annotations, Role};
    ///
    /// let hints = Annotations::new().with_audience([Role::User]).with_priority(0.5);
    /// assert_eq!(
    ///     serde_json::to_string(&hints)?,
    ///     r#"{"audience":["user"],"priority":0.5}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Says whom the content is meant for.
    #[must_use]
    pub fn with_audience(mut self, audience: impl IntoIterator<Item = Role>) -> Self {
        self.audience = Some(audience.into_iter().collect());
        self
    }

    /// Says how much it matters, from 0 (optional) to 1 (required). A number
    /// beyond is taken for the nearest of the two, one that is none is left out.
    #[must_use]
    pub fn with_priority(mut self, priority: f64) -> Self {
        self.priority = Number::try_from(priority.clamp(0.0, 1.0)).ok();
        self
    }

    /// Says when it was last changed, in ISO 8601.
    #[must_use]
    pub fn with_last_modified(mut self, time: impl Into<String>) -> Self {
        self.last_modified = Some(time.into());
        self
    }
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
