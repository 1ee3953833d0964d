//! The protected resource metadata document (RFC 9728).

use bytes::Bytes;
use http::Uri;
use serde_json::json;

use super::{AuthConfigError, Scopes};

/// The address by which the world knows this server, in canonical form.
///
/// It is what a token's audience must name (RFC 8707): absolute, without query
/// or fragment, scheme and host in lower case, and no lone slash for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceUri {
    text: String,
    origin_len: usize,
}

impl ResourceUri {
    /// Reads an address such as `https://mcp.example.com/mcp`.
    ///
    /// # Errors
    ///
    /// [`AuthConfigError::Resource`] when the text is not an absolute `http` or
    /// `https` address without query and fragment. Correct the configuration.
    pub fn new(text: &str) -> Result<Self, AuthConfigError> {
        Self::canonical(text).ok_or_else(|| AuthConfigError::Resource(text.to_owned()))
    }

    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether `audience` names this resource.
    ///
    /// Scheme and host are compared without regard to case (AUTH-B2), the rest
    /// letter by letter.
    pub(crate) fn is_named_by(&self, audience: &str) -> bool {
        audience == self.text || Self::canonical(audience).as_ref() == Some(self)
    }

    fn canonical(text: &str) -> Option<Self> {
        if text.contains(['#', '?', '"', '\\']) {
            return None;
        }
        let uri: Uri = text.parse().ok()?;
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let authority = uri.authority()?.as_str().to_ascii_lowercase();
        if !matches!(scheme.as_str(), "http" | "https") || authority.contains('@') {
            return None;
        }
        let origin = format!("{scheme}://{authority}");
        let path = if uri.path() == "/" { "" } else { uri.path() };
        Some(Self {
            origin_len: origin.len(),
            text: origin + path,
        })
    }

    fn origin(&self) -> &str {
        &self.text[..self.origin_len]
    }

    fn path(&self) -> &str {
        &self.text[self.origin_len..]
    }
}

/// Metadata of the protected resource: tells a client how to get a token.
///
/// Served under the well-known path with the resource's own path behind it,
/// and without it, because clients try both (ASDISC-S3).
#[derive(Clone, Debug)]
pub struct ResourceMetadata {
    url: String,
    path: String,
    document: Bytes,
}

impl ResourceMetadata {
    /// Describes `resource`, whose tokens come from `authorization_servers`.
    ///
    /// `scopes` are what a client needs for basic use; an empty set is not
    /// mentioned.
    #[must_use]
    pub fn new<'a>(
        resource: &ResourceUri,
        authorization_servers: impl IntoIterator<Item = &'a str>,
        scopes: &Scopes,
    ) -> Self {
        let servers: Vec<_> = authorization_servers.into_iter().collect();
        let mut document = json!({
            "resource": resource.as_str(),
            "authorization_servers": servers,
            "bearer_methods_supported": ["header"],
        });
        if !scopes.is_empty() {
            document["scopes_supported"] = scopes.iter().collect();
        }
        let path = format!("{WELL_KNOWN}{}", resource.path());
        Self {
            url: format!("{}{path}", resource.origin()),
            path,
            document: Bytes::from(document.to_string()),
        }
    }

    /// The address to put into a challenge.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn document_at(&self, path: &str) -> Option<&Bytes> {
        (path == self.path || path == WELL_KNOWN).then_some(&self.document)
    }
}

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(resource: &str, expected: Expect) {
        let text = match ResourceUri::new(resource) {
            Err(error) => error.to_string(),
            Ok(resource) => {
                let metadata =
                    ResourceMetadata::new(&resource, ["https://as.example"], &Scopes::parse("mcp"));
                let document = String::from_utf8(metadata.document.to_vec()).unwrap();
                format!("{}\n{}\n{document}", metadata.url(), metadata.path)
            }
        };
        expected.assert_eq(&text);
    }

    #[test]
    fn the_well_known_path_goes_between_host_and_path() {
        check(
            "HTTPS://MCP.Example.com:8443/Public/mcp",
            expect![[r#"
                https://mcp.example.com:8443/.well-known/oauth-protected-resource/Public/mcp
                /.well-known/oauth-protected-resource/Public/mcp
                {"resource":"https://mcp.example.com:8443/Public/mcp","authorization_servers":["https://as.example"],"bearer_methods_supported":["header"],"scopes_supported":["mcp"]}"#]],
        );
    }

    #[test]
    fn a_resource_without_a_path_has_one_well_known_path() {
        check(
            "https://mcp.example.com",
            expect![[r#"
                https://mcp.example.com/.well-known/oauth-protected-resource
                /.well-known/oauth-protected-resource
                {"resource":"https://mcp.example.com","authorization_servers":["https://as.example"],"bearer_methods_supported":["header"],"scopes_supported":["mcp"]}"#]],
        );
    }

    #[test]
    fn what_is_no_resource_is_refused_when_configured() {
        for text in [
            "mcp.example.com",
            "https://mcp.example.com#x",
            "https://mcp.example.com/?a=b",
            "https://user@mcp.example.com",
            "ftp://mcp.example.com",
            "/mcp",
            "",
        ] {
            assert!(ResourceUri::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_audience_is_the_resource_and_nothing_near_it() {
        let root = ResourceUri::new("https://mcp.example.com/").unwrap();
        assert_eq!(root.as_str(), "https://mcp.example.com");
        assert!(root.is_named_by("https://mcp.example.com"));
        assert!(root.is_named_by("https://mcp.example.com/"));
        assert!(!root.is_named_by("https://mcp.example.com/mcp"));

        let resource = ResourceUri::new("https://mcp.example.com/mcp").unwrap();
        assert!(resource.is_named_by("https://mcp.example.com/mcp"));
        assert!(resource.is_named_by("HTTPS://MCP.example.com/mcp"));
        for audience in [
            "https://mcp.example.com",
            "https://mcp.example.com/MCP",
            "https://mcp.example.com/mcp2",
            "https://mcp.example.com/mcp/",
            "https://mcp.example.com/mcp/x",
            "https://mcp.example.com:443/mcp",
            "http://mcp.example.com/mcp",
            "https://mcp.example.com.evil.example/mcp",
            "https://mcp.example.com/mcp?x",
            "mcp",
            "",
        ] {
            assert!(!resource.is_named_by(audience), "{audience}");
        }
    }
}
