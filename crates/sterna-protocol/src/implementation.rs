//! Implementation info: name, version and icons of a client or a server.

use crate::json::OtherName;

wire! {
    /// Name and version of a client or a server.
    ///
    /// Self-reported: for display and logs, not for decisions.
    pub struct Implementation {
        required {
            /// Programmatic name.
            name: String = "name",
            /// Version, in any scheme.
            version: String = "version",
        }
        optional {
            /// Display name.
            title: Option<String> = "title",
            /// Purpose, in a sentence or two.
            description: Option<String> = "description",
            /// URL of its home page.
            website_url: Option<String> = "websiteUrl",
            /// Icons to show for it.
            icons: Option<Vec<Icon>> = "icons",
        }
    }

    /// Creates an implementation with a name and a version only.
    new(name: impl Into<String>, version: impl Into<String>);
}

wire! {
    /// Icon of a tool, a prompt, a resource or an implementation.
    ///
    /// Both the URL and the bytes behind it come from the peer: only `https:`
    /// and `data:` URLs may be followed.
    pub struct Icon {
        required {
            /// URL of the image.
            src: String = "src",
        }
        optional {
            /// Media type, where the response that carries the image may not
            /// name it.
            mime_type: Option<String> = "mimeType",
            /// Sizes it is made for, such as `48x48`, or `any`.
            sizes: Option<Vec<String>> = "sizes",
            /// Theme it is made for.
            theme: Option<IconTheme> = "theme",
        }
    }

    /// Creates an icon at `src`, for any size and theme.
    new(src: impl Into<String>);
}

impl Icon {
    /// Returns true if a client may follow the URL: its scheme is `https:` or
    /// `data:` (BASE-C9).
    pub fn has_safe_source(&self) -> bool {
        let scheme = self.src.split_once(':').map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| {
            scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("data")
        })
    }
}

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
