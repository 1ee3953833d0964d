//! Roots: directories and files that a client works on (deprecated in
//! 2026-07-28).

use crate::json::JsonObject;
use crate::uri::Uri;

/// Parameters of `roots/list`. Optional as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ListRootsRequestParams {
    /// Metadata (`_meta`) under keys of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ListRootsRequestParams {
    optional: meta = "_meta";
    rest: extra
});

/// Result of `roots/list`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListRootsResult {
    /// The client's roots.
    pub roots: Vec<Root>,
    /// Metadata (`_meta`) under keys of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ListRootsResult {
    /// Creates a result with `roots`.
    pub fn new(roots: Vec<Root>) -> Self {
        Self {
            roots,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ListRootsResult {
    required: roots = "roots";
    optional: meta = "_meta";
    rest: extra
});

/// Directory or file that the client works on.
///
/// A hint about relevance, not an access boundary.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Root {
    /// URI; `file://` in every revision so far.
    pub uri: String,
    /// Display name.
    pub name: Option<String>,
    /// Metadata (`_meta`) under keys of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Root {
    /// Creates a root without a name.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }

    /// Returns true for a `file://` URI. Other URIs must be neither sent nor
    /// trusted (ROOT-B1).
    pub fn is_file(&self) -> bool {
        let scheme = self.uri.get(..7);
        scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("file://"))
            && self.uri.parse::<Uri>().is_ok()
    }
}

members!(Root {
    required: uri = "uri";
    optional: name = "name", meta = "_meta";
    rest: extra
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_a_file_uri() {
        for uri in ["file:///srv/charts", "FILE:///srv", "file://host/share"] {
            assert!(Root::new(uri).is_file(), "{uri}");
        }
        for uri in [
            "https://a.example",
            "/srv",
            "file:/srv",
            "file",
            "",
            "file:///a b",
            "é",
        ] {
            assert!(!Root::new(uri).is_file(), "{uri}");
        }
    }
}
