//! Authorization servers that the application names itself.

use super::AuthorizationServer;
use crate::endpoint::Reach;
use crate::error::Fault;
use crate::http::Http;

/// An authorization server that the application names, in place of the one that
/// an MCP server names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenIssuer {
    place: String,
    publishes_metadata: bool,
}

impl TokenIssuer {
    /// A server that publishes metadata under its issuer.
    pub fn new(issuer: impl Into<String>) -> Self {
        Self {
            place: issuer.into(),
            publishes_metadata: true,
        }
    }

    /// A server of which only the token endpoint is known. The URL stands for its
    /// issuer too.
    pub fn at_token_endpoint(url: impl Into<String>) -> Self {
        Self {
            place: url.into(),
            publishes_metadata: false,
        }
    }

    /// The URL that it was named by, which a
    /// [`Registration`](crate::Registration) with it has as its issuer.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.place
    }

    /// Connections that may go to it. The application has named it, so its own
    /// address decides how far it may reach.
    pub(crate) fn reach(&self, http: &Http, what: &'static str) -> Result<Http, Fault> {
        let named = Reach::Loopback.check(what, &self.place)?;
        Ok(http.reaching(Reach::of(named.url())))
    }

    /// Looks the server up over such connections.
    pub(crate) async fn find(
        &self,
        http: &Http,
        what: &'static str,
    ) -> Result<AuthorizationServer, Fault> {
        let place = http.endpoint(what, &self.place)?;
        match self.publishes_metadata {
            true => AuthorizationServer::discover(http, &self.place).await,
            false => Ok(AuthorizationServer::bare(&self.place, place)),
        }
    }
}
