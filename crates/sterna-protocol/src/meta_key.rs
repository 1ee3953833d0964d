//! Keys of `_meta` objects.

use thiserror::Error;

/// Key of a `_meta` object: a name with an optional prefix (BASE-B21).
///
/// # Examples
///
/// ```
/// use sterna_protocol::meta::MetaKey;
///
/// let key = MetaKey::parse("com.example/trip")?;
/// assert_eq!((key.prefix(), key.name()), (Some("com.example"), "trip"));
/// assert!(!key.is_reserved());
/// assert!(MetaKey::parse("io.modelcontextprotocol/logLevel")?.is_reserved());
/// # Ok::<(), sterna_protocol::meta::InvalidMetaKey>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaKey<'a> {
    prefix: Option<&'a str>,
    name: &'a str,
}

impl<'a> MetaKey<'a> {
    /// Splits `key` into prefix and name.
    ///
    /// For keys of your own. Keys from peers are kept without this check.
    ///
    /// # Errors
    ///
    /// The prefix or the name does not follow the grammar.
    pub fn parse(key: &'a str) -> Result<Self, InvalidMetaKey> {
        let (prefix, name) = match key.split_once('/') {
            Some((prefix, name)) => (Some(prefix), name),
            None => (None, key),
        };
        if prefix.is_some_and(|prefix| !prefix.split('.').all(is_label)) {
            return Err(InvalidMetaKey::Prefix);
        }
        if !is_name(name) {
            return Err(InvalidMetaKey::Name);
        }
        Ok(Self { prefix, name })
    }

    /// The prefix before the slash, if there is one.
    pub fn prefix(&self) -> Option<&'a str> {
        self.prefix
    }

    /// The name after the slash.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Returns true if the prefix belongs to MCP: its second label is
    /// `modelcontextprotocol` or `mcp`.
    pub fn is_reserved(&self) -> bool {
        let second = self.prefix.and_then(|prefix| prefix.split('.').nth(1));
        matches!(second, Some("modelcontextprotocol" | "mcp"))
    }
}

/// Label of a prefix: letters, digits and hyphens, beginning with a letter and
/// ending with a letter or digit.
fn is_label(label: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    label.bytes().all(inner)
        && label.starts_with(|first: char| first.is_ascii_alphabetic())
        && label.ends_with(|last: char| last.is_ascii_alphanumeric())
}

/// Name after a prefix: empty, or letters, digits, hyphens, underscores and
/// dots between letters or digits.
fn is_name(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let edge = |edge: char| edge.is_ascii_alphanumeric();
    name.is_empty() || name.bytes().all(inner) && name.starts_with(edge) && name.ends_with(edge)
}

/// Text that is not a [`MetaKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidMetaKey {
    /// The name is not made of letters, digits and `-_.` between letters or
    /// digits.
    #[error("not a name of letters, digits and `-_.` between letters or digits")]
    Name,
    /// The prefix is not made of labels separated by dots.
    #[error("not a prefix of labels separated by dots")]
    Prefix,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_names_with_or_without_a_prefix() {
        for key in [
            "progressToken",
            "a",
            "",
            "com.example/",
            "com.example/my_key-2.x",
            "a-b.c1/x",
        ] {
            assert!(MetaKey::parse(key).is_ok(), "{key}");
        }
    }

    #[test]
    fn other_texts_are_no_keys() {
        for key in ["-a", "a-", "a b", "é", "x/-a", "x/a/b", "x/.a"] {
            assert_eq!(MetaKey::parse(key), Err(InvalidMetaKey::Name), "{key}");
        }
        for key in ["/a", "1x/a", "x-/a", "x..y/a", ".x/a", "x./a", "x_y/a"] {
            assert_eq!(MetaKey::parse(key), Err(InvalidMetaKey::Prefix), "{key}");
        }
    }

    #[test]
    fn the_second_label_decides_whose_a_prefix_is() {
        let reserved = |key| MetaKey::parse(key).unwrap().is_reserved();
        for key in [
            "io.modelcontextprotocol/a",
            "dev.mcp/a",
            "org.modelcontextprotocol.api/a",
            "com.mcp.tools/a",
        ] {
            assert!(reserved(key), "{key}");
        }
        for key in ["com.example.mcp/a", "mcp/a", "mcp", "com.mcpx/a"] {
            assert!(!reserved(key), "{key}");
        }
    }
}
