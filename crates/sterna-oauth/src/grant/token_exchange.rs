//! Token exchange (RFC 8693): the token of a caller is traded for one that is
//! meant for the MCP server.

use std::fmt;
use std::sync::Arc;

use super::{AssertionSource, TOKEN_EXCHANGE, TokenSpec};
use crate::client::Registration;
use crate::error::{At, Error, Fault, Step};
use crate::token::TokenRequest;

/// A caller of ours, whose token is traded for one of the MCP server: for a
/// gateway or a service that acts for its callers.
///
/// The caller's token goes to the authorization server that
/// [`Builder::issuer`](crate::Builder::issuer) names, and nowhere else. Without
/// such an issuer the MCP server would choose who reads the token, so the grant
/// is refused.
#[derive(Clone)]
pub struct TokenExchange {
    pub(super) registration: Registration,
    audience: Option<String>,
    subject: Arc<dyn AssertionSource>,
}

impl TokenExchange {
    /// `registration` is this program as the authorization server knows it;
    /// `subject` gives the caller's access token, the newest one each time.
    pub fn new(registration: Registration, subject: impl AssertionSource + 'static) -> Self {
        Self {
            registration,
            audience: None,
            subject: Arc::new(subject),
        }
    }

    /// Names the MCP server by the `audience` that the authorization server knows
    /// it by, in place of its URL as the `resource`.
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Some(audience.into());
        self
    }

    pub(super) async fn prepare(&self, spec: &TokenSpec) -> Result<TokenRequest, Error> {
        spec.admit(&self.registration)?;
        let subject = self.subject.assertion(&spec.server.issuer).await;
        let subject = subject.map_err(Fault::Assertion).at(Step::TokenExchange)?;
        let mut form = match &self.audience {
            Some(audience) => {
                let mut form = spec.form_without_resource(TOKEN_EXCHANGE);
                form.add("audience", audience);
                form
            }
            None => spec.form(TOKEN_EXCHANGE),
        };
        form.add("requested_token_type", ACCESS_TOKEN);
        form.add("subject_token", subject.expose());
        form.add("subject_token_type", ACCESS_TOKEN);
        spec.request(&self.registration, form)
    }
}

impl From<TokenExchange> for super::Grant {
    fn from(exchange: TokenExchange) -> Self {
        Self::TokenExchange(exchange)
    }
}

impl fmt::Debug for TokenExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenExchange")
            .field("registration", &self.registration)
            .field("audience", &self.audience)
            .finish_non_exhaustive()
    }
}

const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
