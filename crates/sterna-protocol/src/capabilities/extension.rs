use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::meta_key::{InvalidMetaKey, MetaKey};

/// The name of an extension: a `_meta` key with a prefix (VER-B1).
///
/// # Examples
///
/// ```
/// use sterna_protocol::capabilities::{ClientCapabilities, ExtensionId};
///
/// let sonar: ExtensionId = "org.example/sonar".parse()?;
/// let capabilities = ClientCapabilities::default().with_extension(&sonar);
/// assert!(capabilities.has_extension("org.example/sonar"));
///
/// assert!("sonar".parse::<ExtensionId>().is_err());
/// # Ok::<(), sterna_protocol::capabilities::InvalidExtensionId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExtensionId(Cow<'static, str>);

impl ExtensionId {
    /// Requests that go on after their answer: see [`tasks`](crate::tasks).
    pub const TASKS: Self = Self(Cow::Borrowed("io.modelcontextprotocol/tasks"));

    /// The name on the wire.
    pub const fn as_str(&self) -> &str {
        match &self.0 {
            Cow::Borrowed(name) => name,
            Cow::Owned(name) => name.as_str(),
        }
    }
}

impl fmt::Display for ExtensionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ExtensionId {
    type Err = InvalidExtensionId;

    fn from_str(name: &str) -> Result<Self, InvalidExtensionId> {
        let key = MetaKey::parse(name)?;
        match key.prefix() {
            Some(_) => Ok(Self(Cow::Owned(name.to_owned()))),
            None => Err(InvalidExtensionId::NoPrefix),
        }
    }
}

/// Why a text is no [`ExtensionId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidExtensionId {
    /// It is not even a `_meta` key.
    #[error("not a key")]
    NotAKey(#[from] InvalidMetaKey),
    /// It has no prefix, which says whose extension it is.
    #[error("no prefix such as `com.example/`")]
    NoPrefix,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_needs_a_prefix() {
        let parse = |name: &str| name.parse::<ExtensionId>();
        assert_eq!(
            parse("io.modelcontextprotocol/tasks"),
            Ok(ExtensionId::TASKS)
        );
        assert_eq!(parse("tasks"), Err(InvalidExtensionId::NoPrefix));
        let bad_prefix = InvalidExtensionId::NotAKey(InvalidMetaKey::Prefix);
        assert_eq!(parse("9/tasks"), Err(bad_prefix));
    }
}
