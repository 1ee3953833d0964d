//! Enterprise-managed authorization: the identity provider decides who may use
//! what, and users need not consent again.

use std::fmt;
use std::sync::Arc;

use super::{AssertionSource, GrantContext, JWT_BEARER, TOKEN_EXCHANGE, TokenSpec};
use crate::client::{Client, ClientAuth, Registration};
use crate::discovery::TokenIssuer;
use crate::error::{At, Error, Fault, Step};
use crate::form::Form;
use crate::printable::printable;
use crate::secret::Secret;
use crate::token::TokenRequest;

/// A user who has signed in to the enterprise's identity provider.
///
/// The user's ID token is traded there for an assertion (ID-JAG) that names the
/// MCP server, and that for a token of the MCP server's authorization server.
#[derive(Clone)]
pub struct EnterpriseManaged {
    pub(super) registration: Registration,
    provider: IdentityProvider,
    id_tokens: Arc<dyn AssertionSource>,
}

impl EnterpriseManaged {
    /// `registration` is the client as the MCP server's authorization server
    /// knows it; `id_tokens` gives the signed-in user's ID token.
    pub fn new(
        registration: Registration,
        provider: IdentityProvider,
        id_tokens: impl AssertionSource + 'static,
    ) -> Self {
        Self {
            registration,
            provider,
            id_tokens: Arc::new(id_tokens),
        }
    }

    pub(super) async fn prepare(
        &self,
        context: &GrantContext,
        spec: &TokenSpec,
    ) -> Result<TokenRequest, Error> {
        spec.admit(&self.registration)?;
        let assertion = self.exchange(context, spec).await.at(Step::TokenExchange)?;
        let mut form = spec.form(JWT_BEARER);
        form.add("assertion", assertion.expose());
        spec.request(&self.registration, form)
    }

    /// Trades the ID token for an assertion (RFC 8693).
    async fn exchange(&self, context: &GrantContext, spec: &TokenSpec) -> Result<Secret, Fault> {
        let issuer = &self.provider.issuer;
        let http = issuer.reach(&context.http, "identity provider")?;
        let server = issuer.find(&http, "identity provider").await?;
        let id_token = self.id_tokens.assertion(&server.issuer).await;
        let id_token = id_token.map_err(Fault::Assertion)?;
        let mut form = Form::new(TOKEN_EXCHANGE);
        form.add("requested_token_type", ID_JAG);
        form.add("audience", &spec.server.issuer);
        form.add("resource", &spec.resource);
        form.add_scopes(&spec.scopes);
        form.add("subject_token", id_token.expose());
        form.add("subject_token_type", ID_TOKEN);
        let request = TokenRequest {
            server: Arc::new(server),
            client: self.provider.client.clone(),
            form,
            dpop: None,
        };
        let mut document = request.send(&http, &context.nonces).await?;
        let issued = document.required("issued_token_type")?;
        if issued != ID_JAG {
            return Err(Fault::TokenType {
                found: printable(issued),
            });
        }
        document.secret("access_token")?.ok_or(Fault::Field {
            name: "access_token",
            expected: "present",
        })
    }
}

impl From<EnterpriseManaged> for super::Grant {
    fn from(enterprise: EnterpriseManaged) -> Self {
        Self::EnterpriseManaged(enterprise)
    }
}

impl fmt::Debug for EnterpriseManaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterpriseManaged")
            .field("registration", &self.registration)
            .field("provider", &self.provider)
            .finish_non_exhaustive()
    }
}

/// Identity provider of the enterprise, and the client registered with it.
#[derive(Clone, Debug)]
pub struct IdentityProvider {
    issuer: TokenIssuer,
    client: Client,
}

impl IdentityProvider {
    /// A provider that publishes metadata under its issuer.
    pub fn new(issuer: impl Into<String>, client_id: impl Into<String>, auth: ClientAuth) -> Self {
        Self {
            issuer: TokenIssuer::new(issuer),
            client: Client {
                id: Some(client_id.into()),
                auth,
                dynamic: None,
            },
        }
    }

    /// A provider of which only the token endpoint is known.
    pub fn at_token_endpoint(
        url: impl Into<String>,
        client_id: impl Into<String>,
        auth: ClientAuth,
    ) -> Self {
        let url = url.into();
        Self {
            issuer: TokenIssuer::at_token_endpoint(url.clone()),
            ..Self::new(url, client_id, auth)
        }
    }
}

const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
