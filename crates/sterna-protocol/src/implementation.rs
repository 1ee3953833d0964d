//! Who a peer says it is, and the icons it shows.

use crate::json::{JsonObject, OtherName};

/// The name and version of a client or a server.
///
/// Self-reported: good for display and logs, not for decisions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Implementation {
    /// The name for programs.
    pub name: String,
    /// The version, in whatever scheme the implementation uses.
    pub version: String,
    /// The name for people.
    pub title: Option<String>,
    /// What it does, in a sentence or two.
    pub description: Option<String>,
    /// Its home page.
    pub website_url: Option<String>,
    /// Pictures of it.
    pub icons: Option<Vec<Icon>>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Implementation {
    /// An implementation that gives only its name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            title: None,
            description: None,
            website_url: None,
            icons: None,
            extra: JsonObject::new(),
        }
    }
}

members!(Implementation {
    required: name = "name", version = "version";
    optional: title = "title", description = "description", website_url = "websiteUrl",
        icons = "icons";
    rest: extra
});

/// A picture for a tool, a prompt, a resource or an implementation.
///
/// Both the address and the bytes behind it come from the peer: only `https:`
/// and `data:` addresses may be followed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Icon {
    /// Where the picture is.
    pub src: String,
    /// Its media type, where the server's own answer would not tell.
    pub mime_type: Option<String>,
    /// Sizes it is good for, such as `48x48`, or `any`.
    pub sizes: Option<Vec<String>>,
    /// The background it is meant for.
    pub theme: Option<IconTheme>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Icon {
    /// An icon at `src`, for any size and background.
    pub fn new(src: impl Into<String>) -> Self {
        Self {
            src: src.into(),
            mime_type: None,
            sizes: None,
            theme: None,
            extra: JsonObject::new(),
        }
    }

    /// Whether the address is one that a client may follow at all: `https:` or
    /// `data:` (BASE-C9).
    pub fn has_safe_source(&self) -> bool {
        let scheme = self.src.split_once(':').map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| {
            scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("data")
        })
    }
}

members!(Icon {
    required: src = "src";
    optional: mime_type = "mimeType", sizes = "sizes", theme = "theme";
    rest: extra
});

/// The background an [`Icon`] is drawn for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IconTheme {
    /// For dark backgrounds.
    Dark,
    /// For light backgrounds.
    Light,
    /// A theme this revision does not define.
    Other(OtherName),
}

names!(IconTheme {
    Dark = "dark",
    Light = "light",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_data_are_safe_to_follow() {
        for src in [
            "https://a.example/i.png",
            "HTTPS://a.example",
            "data:image/png,x",
        ] {
            assert!(Icon::new(src).has_safe_source(), "{src}");
        }
        for src in [
            "http://a.example",
            "javascript:alert(1)",
            "file:///x",
            "i.png",
            "",
            "data",
        ] {
            assert!(!Icon::new(src).has_safe_source(), "{src}");
        }
    }
}
