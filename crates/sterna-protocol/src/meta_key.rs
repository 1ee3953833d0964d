//! Keys of `_meta` objects.

use thiserror::Error;

/// A key of a `_meta` object: a name, perhaps behind a prefix (BASE-B21).
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
    /// Takes a key apart.
    ///
    /// Peers can send any key, and all of them survive; this is for keys of
    /// one's own.
    ///
    /// # Errors
    ///
    /// Says which part is not as the specification wants it.
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

    /// What stands before the slash, if there is one.
    pub fn prefix(&self) -> Option<&'a str> {
        self.prefix
    }

    /// What stands after the slash.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Whether the prefix belongs to MCP: its second label is
    /// `modelcontextprotocol` or `mcp`.
    pub fn is_reserved(&self) -> bool {
        let second = self.prefix.and_then(|prefix| prefix.split('.').nth(1));
        matches!(second, Some("modelcontextprotocol" | "mcp"))
    }
}

/// Letters, digits and hyphens, from a letter to a letter or digit.
fn is_label(label: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    label.bytes().all(inner)
        && label.starts_with(|first: char| first.is_ascii_alphabetic())
        && label.ends_with(|last: char| last.is_ascii_alphanumeric())
}

/// Nothing, or letters, digits, hyphens, underscores and dots, from a letter
/// or digit to a letter or digit.
fn is_name(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let edge = |edge: char| edge.is_ascii_alphanumeric();
    name.is_empty() || name.bytes().all(inner) && name.starts_with(edge) && name.ends_with(edge)
}

/// Why a text is no [`MetaKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidMetaKey {
    /// What stands after the slash, or alone, is no name.
    #[error("not a name of letters, digits and `-_.` between letters or digits")]
    Name,
    /// What stands before the slash is no prefix.
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
