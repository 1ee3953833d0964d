use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::meta_key::{InvalidMetaKey, MetaKey};

/// Id of an extension: a `_meta` key with a prefix (VER-B1).
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
    /// Tasks extension; see [`tasks`](crate::tasks).
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

/// Text that is not an [`ExtensionId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidExtensionId {
    /// The text is not a `_meta` key.
    #[error("not a `_meta` key")]
    NotAKey(#[from] InvalidMetaKey),
    /// The prefix, which names the owner of the extension, is missing.
    #[error("the prefix is missing; begin with one such as `com.example/`")]
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
