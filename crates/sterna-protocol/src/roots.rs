//! Roots: directories and files that a client works on (deprecated in
//! 2026-07-28).

use crate::json::JsonObject;
use crate::uri::Uri;

wire! {
    /// Parameters of `roots/list`. Optional as a whole.
    #[derive(Default)]
    pub struct ListRootsRequestParams {
        optional {
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }
}

wire! {
    /// Result of `roots/list`.
    pub struct ListRootsResult {
        required {
            /// The client's roots.
            roots: Vec<Root> = "roots",
        }
        optional {
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }

    /// Creates a result with `roots`.
    new(roots: Vec<Root>);
}

wire! {
    /// Directory or file that the client works on.
    ///
    /// A hint about relevance, not an access boundary.
    pub struct Root {
        required {
            /// URI; `file://` in every revision so far.
            uri: String = "uri",
        }
        optional {
            /// Display name.
            name: Option<String> = "name",
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }

    /// Creates a root without a name.
    new(uri: impl Into<String>);
}

impl Root {
    /// Returns true for a `file://` URI. Other URIs must be neither sent nor
    /// trusted (ROOT-B1).
    pub fn is_file(&self) -> bool {
        let scheme = self.uri.get(..7);
        scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("file://"))
            && self.uri.parse::<Uri>().is_ok()
    }
}

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
