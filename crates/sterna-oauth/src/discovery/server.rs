//! Authorization server metadata (RFC 8414, OpenID Connect Discovery).

use crate::document::Document;
use crate::endpoint::Endpoint;
use crate::error::Fault;
use crate::http::Http;
use crate::printable::printable;
use crate::scope::Scopes;

/// Metadata of an authorization server.
///
/// Every list is `None` if the document does not have it.
#[derive(Clone, Debug)]
pub(crate) struct AuthorizationServer {
    /// Identical to what the MCP server named and what the document says.
    pub(crate) issuer: String,
    pub(crate) token_endpoint: Endpoint,
    pub(crate) auth_algorithms: Option<Vec<String>>,
    pub(crate) auth_methods: Option<Vec<String>>,
    pub(crate) grant_types: Option<Vec<String>>,
    pub(crate) scopes: Option<Scopes>,
    /// It names itself in every redirect (RFC 9207).
    pub(crate) names_itself: bool,
    pub(crate) takes_metadata_documents: bool,
    authorization_endpoint: Option<String>,
    challenge_methods: Option<Vec<String>>,
    dpop_algorithms: Option<Vec<String>>,
    registration_endpoint: Option<String>,
}

impl AuthorizationServer {
    /// Tries the well-known places of `issuer` in the order the spec gives.
    pub(crate) async fn discover(http: &Http, issuer: &str) -> Result<Self, Fault> {
        let root = http.endpoint("issuer", issuer)?;
        if root.url().query().is_some() {
            return Err(Fault::Url {
                what: "issuer",
                url: printable(issuer),
                why: "has a query",
            });
        }
        let mut fault = None;
        for place in well_known(&root) {
            let answer = http.get(&place).await?;
            if answer.status.is_client_error() {
                continue;
            }
            if !answer.status.is_success() {
                return Err(Fault::Status(answer.status.as_u16()));
            }
            let read = answer.document().and_then(|d| Self::read(http, &d, issuer));
            match read {
                Ok(server) => return Ok(server),
                Err(refused) => fault = fault.or(Some(refused)),
            }
        }
        Err(fault.unwrap_or_else(|| Fault::NoServerMetadata {
            issuer: printable(issuer),
        }))
    }

    fn read(http: &Http, document: &Document, issuer: &str) -> Result<Self, Fault> {
        let found = document.required("issuer")?;
        // ASDISC-C8: identical, not merely equivalent.
        if found != issuer {
            return Err(Fault::IssuerMismatch {
                expected: printable(issuer),
                found: printable(found),
            });
        }
        let text = |name| Ok::<_, Fault>(document.text(name)?.map(str::to_owned));
        let texts = |name| {
            let list = document.texts(name)?;
            Ok::<_, Fault>(list.map(|list| list.into_iter().map(str::to_owned).collect()))
        };
        Ok(Self {
            issuer: issuer.to_owned(),
            token_endpoint: http
                .endpoint("token_endpoint", document.required("token_endpoint")?)?,
            auth_algorithms: texts("token_endpoint_auth_signing_alg_values_supported")?,
            auth_methods: texts("token_endpoint_auth_methods_supported")?,
            grant_types: texts("grant_types_supported")?,
            scopes: document.texts("scopes_supported")?.map(Scopes::from_iter),
            names_itself: document.flag("authorization_response_iss_parameter_supported")?,
            takes_metadata_documents: document.flag("client_id_metadata_document_supported")?,
            authorization_endpoint: text("authorization_endpoint")?,
            challenge_methods: texts("code_challenge_methods_supported")?,
            dpop_algorithms: texts("dpop_signing_alg_values_supported")?,
            registration_endpoint: text("registration_endpoint")?,
        })
    }

    /// Endpoints that revision 2025-03-26 assumes for a server without metadata.
    pub(crate) fn assumed(http: &Http, issuer: &str) -> Result<Self, Fault> {
        let root = http.endpoint("issuer", issuer)?;
        let at = |path| Some(root.at(path).url().to_string());
        Ok(Self {
            authorization_endpoint: at("/authorize"),
            challenge_methods: Some(vec![S256.to_owned()]),
            registration_endpoint: at("/register"),
            ..Self::bare(issuer, root.at("/token"))
        })
    }

    /// A server of which nothing is known but where its tokens are issued.
    pub(crate) fn bare(issuer: &str, token_endpoint: Endpoint) -> Self {
        Self {
            issuer: issuer.to_owned(),
            token_endpoint,
            auth_algorithms: None,
            auth_methods: None,
            grant_types: None,
            scopes: None,
            names_itself: false,
            takes_metadata_documents: false,
            authorization_endpoint: None,
            challenge_methods: None,
            dpop_algorithms: None,
            registration_endpoint: None,
        }
    }

    /// Returns the authorization endpoint, if the server supports the code flow with PKCE.
    pub(crate) fn authorization_endpoint(&self, http: &Http) -> Result<Endpoint, Fault> {
        let methods = self.challenge_methods.as_deref().unwrap_or_default();
        if !methods.iter().any(|method| method == S256) {
            return Err(Fault::PkceUnsupported {
                issuer: printable(&self.issuer),
            });
        }
        let name = "authorization_endpoint";
        let url = self.authorization_endpoint.as_deref();
        let expected = "present";
        http.endpoint(name, url.ok_or(Fault::Field { name, expected })?)
    }

    pub(crate) fn registration_endpoint(&self, http: &Http) -> Result<Option<Endpoint>, Fault> {
        let url = self.registration_endpoint.as_deref();
        url.map(|url| http.endpoint("registration_endpoint", url))
            .transpose()
    }

    pub(crate) fn issues_dpop_tokens(&self) -> bool {
        let algorithms = self.dpop_algorithms.as_deref().unwrap_or_default();
        algorithms.iter().any(|algorithm| algorithm == "ES256")
    }
}

/// The places of ASDISC-C6 and ASDISC-C7, in their order.
fn well_known(issuer: &Endpoint) -> Vec<Endpoint> {
    let path = issuer.path();
    let mut places = vec![
        issuer.at(&format!("/.well-known/oauth-authorization-server{path}")),
        issuer.at(&format!("/.well-known/openid-configuration{path}")),
    ];
    if !path.is_empty() {
        places.push(issuer.at(&format!("{path}/.well-known/openid-configuration")));
    }
    places
}

pub(crate) const S256: &str = "S256";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Reach;

    #[test]
    fn issuers_with_a_path_have_three_places_and_others_two() {
        let places = |issuer: &str| {
            let issuer = Reach::Network.check("issuer", issuer).unwrap();
            let places = well_known(&issuer);
            places
                .iter()
                .map(|p| p.url().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            places("https://a.example/tenant1"),
            [
                "https://a.example/.well-known/oauth-authorization-server/tenant1",
                "https://a.example/.well-known/openid-configuration/tenant1",
                "https://a.example/tenant1/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            places("https://a.example"),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration",
            ]
        );
    }
}
