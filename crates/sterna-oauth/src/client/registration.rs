//! Clients that were registered beforehand.

use super::ClientAuth;
use crate::endpoint::Reach;
use crate::error::Fault;
use crate::printable::printable;

/// A client as an authorization server has registered it.
///
/// It belongs to that server: it is never shown to another issuer.
#[derive(Clone, Debug)]
pub struct Registration {
    pub(crate) issuer: Option<String>,
    pub(crate) client_id: Option<String>,
    pub(crate) auth: ClientAuth,
}

impl Registration {
    /// A client that `issuer` knows as `client_id`.
    ///
    /// `issuer` is compared character by character with what servers say.
    pub fn new(issuer: impl Into<String>, client_id: impl Into<String>, auth: ClientAuth) -> Self {
        Self {
            issuer: Some(issuer.into()),
            client_id: Some(client_id.into()),
            auth,
        }
    }

    /// A client that `issuer` identifies by an assertion alone.
    pub(crate) fn anonymous(issuer: String) -> Self {
        Self {
            issuer: Some(issuer),
            client_id: None,
            auth: ClientAuth::none(),
        }
    }

    /// A client that is shown to every authorization server that the MCP server
    /// names.
    ///
    /// A dishonest MCP server can name its own and read the secret. Use it only
    /// where the MCP server may know the secret anyway.
    pub fn dangerous_any_issuer(client_id: impl Into<String>, auth: ClientAuth) -> Self {
        Self {
            issuer: None,
            client_id: Some(client_id.into()),
            auth,
        }
    }

    pub(crate) fn belongs_to(&self, issuer: &str) -> bool {
        self.issuer.as_deref().is_none_or(|own| own == issuer)
    }

    /// Error for a server that now trusts another issuer (REG-C12).
    pub(crate) fn mismatch(&self, issuer: &str) -> Fault {
        Fault::OtherIssuer {
            registered: printable(self.issuer.as_deref().unwrap_or_default()),
            named: printable(issuer),
        }
    }
}

/// Returns true if a URL can be the id of a client with a metadata document:
/// https, with a path, and in the form in which it is compared.
pub(crate) fn is_document_url(text: &str) -> bool {
    match Reach::Network.check("client id", text) {
        Ok(endpoint) => !endpoint.path().is_empty() && endpoint.url().as_str() == text,
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_url_is_https_with_a_path_and_in_its_plain_form() {
        assert!(is_document_url("https://app.example/client.json"));
        assert!(!is_document_url("http://app.example/client.json"));
        assert!(!is_document_url("https://app.example/"));
        assert!(!is_document_url("https://app.example"));
        assert!(!is_document_url("https://app.example/a/../client.json"));
        assert!(!is_document_url("https://app.example/client.json#x"));
        assert!(!is_document_url("https://me@app.example/client.json"));
        assert!(!is_document_url("client-id"));
    }

    #[test]
    fn a_registration_is_shown_to_its_own_issuer_only() {
        let own = Registration::new("https://as.example", "id", ClientAuth::none());
        assert!(own.belongs_to("https://as.example"));
        assert!(!own.belongs_to("https://as.example/"));
        assert!(!own.belongs_to("https://AS.example"));
        let any = Registration::dangerous_any_issuer("id", ClientAuth::none());
        assert!(any.belongs_to("https://evil.example"));
    }
}
