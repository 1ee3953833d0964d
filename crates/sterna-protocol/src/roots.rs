//! Roots: the places a client works on (deprecated in 2026-07-28).

use crate::json::JsonObject;
use crate::uri::Uri;

/// The parameters of `roots/list`, which may be left out altogether.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ListRootsRequestParams {
    /// Metadata under names of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ListRootsRequestParams {
    optional: meta = "_meta";
    rest: extra
});

/// The result of `roots/list`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListRootsResult {
    /// The places.
    pub roots: Vec<Root>,
    /// Metadata under names of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ListRootsResult {
    /// The client works on `roots`.
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

/// A directory or file the client works on.
///
/// A hint about what matters, not a fence.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Root {
    /// Where it is; a `file://` URI in every revision so far.
    pub uri: String,
    /// What to call it in front of a user.
    pub name: Option<String>,
    /// Metadata under names of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Root {
    /// A place without a name.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }

    /// Whether it is a `file://` URI. Any other is neither to be sent nor to
    /// be believed (ROOT-B1).
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
