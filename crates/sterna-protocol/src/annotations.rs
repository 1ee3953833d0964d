//! Annotations of content and resources, and the roles of a conversation.

use crate::json::{Number, OtherName};

wire! {
    /// Annotations: the audience, priority and age of content or a resource.
    #[derive(Default)]
    pub struct Annotations {
        optional {
            /// Roles that the content is meant for.
            audience: Option<Vec<Role>> = "audience",
            /// Importance, from 0 (optional) to 1 (required).
            priority: Option<Number> = "priority",
            /// Time of the last change, in ISO 8601.
            last_modified: Option<String> = "lastModified",
        }
    }
}

impl Annotations {
    /// Creates annotations without any hint.
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

    /// Sets the roles that the content is meant for.
    #[must_use]
    pub fn with_audience(mut self, audience: impl IntoIterator<Item = Role>) -> Self {
        self.audience = Some(audience.into_iter().collect());
        self
    }

    /// Sets the importance, from 0 (optional) to 1 (required). A number out of
    /// this range becomes the nearer bound; NaN leaves the priority unset.
    #[must_use]
    pub fn with_priority(mut self, priority: f64) -> Self {
        self.priority = Number::try_from(priority.clamp(0.0, 1.0)).ok();
        self
    }

    /// Sets the time of the last change, in ISO 8601.
    #[must_use]
    pub fn with_last_modified(mut self, time: impl Into<String>) -> Self {
        self.last_modified = Some(time.into());
        self
    }
}

/// Role of a speaker in a conversation with a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// The model.
    Assistant,
    /// The user, or a program that acts for one.
    User,
    /// Role that this revision does not define.
    Other(OtherName),
}

names!(Role {
    Assistant = "assistant",
    User = "user",
});
