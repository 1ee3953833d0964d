//! Implementation info: name, version and icons of a client or a server.

use crate::json::{JsonObject, OtherName};

/// Name and version of a client or a server.
///
/// Self-reported: for display and logs, not for decisions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Implementation {
    /// Programmatic name.
    pub name: String,
    /// Version, in any scheme.
    pub version: String,
    /// Display name.
    pub title: Option<String>,
    /// Purpose, in a sentence or two.
    pub description: Option<String>,
    /// URL of its home page.
    pub website_url: Option<String>,
    /// Icons to show for it.
    pub icons: Option<Vec<Icon>>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Implementation {
    /// Creates an implementation with a name and a version only.
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

/// Icon of a tool, a prompt, a resource or an implementation.
///
/// Both the URL and the bytes behind it come from the peer: only `https:` and
/// `data:` URLs may be followed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Icon {
    /// URL of the image.
    pub src: String,
    /// Media type, where the response that carries the image may not name it.
    pub mime_type: Option<String>,
    /// Sizes it is made for, such as `48x48`, or `any`.
    pub sizes: Option<Vec<String>>,
    /// Theme it is made for.
    pub theme: Option<IconTheme>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Icon {
    /// Creates an icon at `src`, for any size and theme.
    pub fn new(src: impl Into<String>) -> Self {
        Self {
            src: src.into(),
            mime_type: None,
            sizes: None,
            theme: None,
            extra: JsonObject::new(),
        }
    }

    /// Returns true if a client may follow the URL: its scheme is `https:` or
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

/// Theme that an [`Icon`] is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IconTheme {
    /// Dark backgrounds.
    Dark,
    /// Light backgrounds.
    Light,
    /// Theme that this revision does not define.
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
