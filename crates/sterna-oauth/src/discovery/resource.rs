//! Protected resource metadata (RFC 9728).

use crate::document::Document;
use crate::endpoint::{Endpoint, Reach};
use crate::error::Fault;
use crate::http::Http;
use crate::printable::printable;
use crate::scope::Scopes;

/// The MCP server's URL, as the user wrote it and as it is contacted.
#[derive(Clone, Debug)]
pub(crate) struct ServerUrl {
    pub(crate) text: String,
    pub(crate) endpoint: Endpoint,
}

impl ServerUrl {
    pub(crate) fn parse(text: String) -> Result<Self, Fault> {
        // The user's own URL decides how far its server's URLs may reach.
        let loopback = Reach::Loopback.check("server URL", &text)?;
        let endpoint = Reach::of(loopback.url()).check("server URL", &text)?;
        Ok(Self { text, endpoint })
    }

    /// Well-known URLs of the metadata, for servers that do not name one: with
    /// the path of the server, then at the root.
    fn well_known(&self) -> Vec<Endpoint> {
        let path = self.endpoint.path();
        let root = self.endpoint.at(WELL_KNOWN);
        if path.is_empty() {
            return vec![root];
        }
        let with_path = self.endpoint.with_path(&format!("{WELL_KNOWN}{path}"));
        vec![with_path, root]
    }
}

/// Protected resource metadata: the resource identifier and its issuers.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    /// Its identifier, byte for byte as the document has it.
    pub(crate) id: String,
    /// Whom it trusts to issue tokens, in its order of preference.
    pub(crate) issuers: Vec<String>,
    pub(crate) scopes: Option<Scopes>,
    pub(crate) dpop_required: bool,
}

impl Resource {
    /// Fetches the document the challenge points to, else the well-known ones.
    pub(crate) async fn discover(
        http: &Http,
        server: &ServerUrl,
        pointer: Option<&str>,
    ) -> Result<Self, Fault> {
        // ASDISC-C2, ASDISC-C3: a pointer is followed, not guessed around.
        let places = match pointer {
            Some(url) => vec![http.endpoint("resource_metadata", url)?],
            None => server.well_known(),
        };
        let mut fault = Fault::NoResourceMetadata;
        for place in places {
            let answer = http.get(&place).await?;
            if answer.status.is_client_error() {
                continue;
            }
            if !answer.status.is_success() {
                return Err(Fault::Status(answer.status.as_u16()));
            }
            match answer.document() {
                Ok(document) => return Self::read(&document, server),
                // A site that answers every path with its front page has nothing here either.
                Err(not_json) => fault = not_json,
            }
        }
        Err(fault)
    }

    fn read(document: &Document, server: &ServerUrl) -> Result<Self, Fault> {
        let id = document.required("resource")?;
        let mismatch = || Fault::ResourceMismatch {
            server: printable(&server.text),
            resource: printable(id),
        };
        // Scheme and host may be in capitals; the parsed forms are compared,
        // the bytes are sent.
        let resource = Reach::Loopback
            .check("resource", id)
            .map_err(|_| mismatch())?;
        if !resource.covers(server.endpoint.url()) {
            return Err(mismatch());
        }
        let issuers = document.texts("authorization_servers")?.unwrap_or_default();
        if issuers.is_empty() {
            return Err(Fault::Field {
                name: "authorization_servers",
                expected: "a list with an authorization server",
            });
        }
        let scopes = document.texts("scopes_supported")?;
        Ok(Self {
            id: id.to_owned(),
            issuers: issuers
                .into_iter()
                .take(MAX_ISSUERS)
                .map(str::to_owned)
                .collect(),
            scopes: scopes.map(Scopes::from_iter),
            dpop_required: document.flag("dpop_bound_access_tokens_required")?,
        })
    }

    /// The assumption of revision 2025-03-26: the server's origin issues its tokens.
    pub(crate) fn assumed(server: &ServerUrl) -> Self {
        // AUTH-B3: the slash of a bare origin means nothing.
        let bare = server.endpoint.path().is_empty() && server.endpoint.url().query().is_none();
        let id = match bare {
            true => server.text.trim_end_matches('/'),
            false => &*server.text,
        };
        Self {
            id: id.to_owned(),
            issuers: vec![server.endpoint.origin()],
            scopes: None,
            dpop_required: false,
        }
    }

    /// Describes a server whose issuer the application has named.
    pub(crate) fn named(server: &ServerUrl, issuer: &str) -> Self {
        Self {
            issuers: vec![issuer.to_owned()],
            ..Self::assumed(server)
        }
    }
}

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// A server that lists more is trying to keep us busy.
const MAX_ISSUERS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_that_we_name_ourselves_ends_without_a_slash() {
        for (url, id) in [
            ("https://a.example/", "https://a.example"),
            ("https://a.example", "https://a.example"),
            ("https://a.example:8443/", "https://a.example:8443"),
            // Here it may mean something: it is the user's.
            ("https://a.example/mcp/", "https://a.example/mcp/"),
            ("https://a.example/?at=/", "https://a.example/?at=/"),
        ] {
            let server = ServerUrl::parse(url.to_owned()).unwrap();
            assert_eq!(Resource::assumed(&server).id, id);
        }
    }

    #[test]
    fn the_path_comes_first_and_the_root_second() {
        let places = |url: &str| {
            let server = ServerUrl::parse(url.to_owned()).unwrap();
            let places = server.well_known();
            places
                .iter()
                .map(|p| p.url().to_string())
                .collect::<Vec<_>>()
        };
        let root = "https://a.example/.well-known/oauth-protected-resource";
        let path = "https://a.example/.well-known/oauth-protected-resource/public/mcp";
        assert_eq!(places("https://a.example/public/mcp"), [path, root]);
        assert_eq!(places("https://a.example/public/mcp/"), [path, root]);
        let queried = format!("{path}?tenant=1");
        assert_eq!(
            places("https://a.example/public/mcp?tenant=1"),
            [&queried, root]
        );
        assert_eq!(places("https://a.example/"), [root]);
        assert_eq!(places("https://a.example"), [root]);
    }
}
