//! Grants: the ways to obtain a token.

mod code;
mod enterprise;
mod machine;
mod redirect;
mod token_exchange;

use std::sync::Arc;

pub use code::AuthorizationCode;
pub(crate) use code::OFFLINE_ACCESS;
pub use enterprise::{EnterpriseManaged, IdentityProvider};
pub use machine::{AssertionSource, ClientCredentials, WorkloadIdentity};
pub use token_exchange::TokenExchange;

use crate::client::{Client, ClientAuth, Registration};
use crate::config::Config;
use crate::discovery::AuthorizationServer;
use crate::error::{At, Error, Fault, Step};
use crate::form::Form;
use crate::http::Http;
use crate::scope::Scopes;
use crate::store::CredentialRecords;
use crate::token::{DpopKey, Nonces, TokenRequest};

/// On whose behalf tokens are obtained, and by which means.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum Grant {
    /// For a user who signs in with a browser.
    AuthorizationCode(AuthorizationCode),
    /// For the client itself.
    ClientCredentials(ClientCredentials),
    /// For a user who has signed in to the enterprise's identity provider.
    EnterpriseManaged(EnterpriseManaged),
    /// For a caller of ours, whose token is traded.
    TokenExchange(TokenExchange),
    /// For a workload that its platform vouches for.
    WorkloadIdentity(WorkloadIdentity),
}

impl Grant {
    /// Does everything up to the request that redeems the grant.
    pub(crate) async fn prepare(
        &self,
        context: &GrantContext,
        spec: &TokenSpec,
    ) -> Result<TokenRequest, Error> {
        match self {
            Self::AuthorizationCode(code) => code.prepare(context, spec).await,
            Self::ClientCredentials(credentials) => credentials.prepare(spec),
            Self::EnterpriseManaged(enterprise) => enterprise.prepare(context, spec).await,
            Self::TokenExchange(exchange) => exchange.prepare(spec).await,
            Self::WorkloadIdentity(workload) => workload.prepare(spec).await,
        }
    }

    /// Returns true if a person has to take part.
    pub(crate) fn is_interactive(&self) -> bool {
        matches!(self, Self::AuthorizationCode(_))
    }

    /// Client authentication that is configured for this id at `issuer`.
    pub(crate) fn configured(&self, issuer: &str, id: Option<&str>) -> Option<ClientAuth> {
        let of = |registration: &Registration| {
            let own = registration.client_id.as_deref() == id && registration.belongs_to(issuer);
            own.then(|| registration.auth.clone())
        };
        match self {
            Self::AuthorizationCode(code) => code.configured(issuer, id),
            Self::ClientCredentials(credentials) => of(&credentials.registration),
            Self::EnterpriseManaged(enterprise) => of(&enterprise.registration),
            Self::TokenExchange(exchange) => of(&exchange.registration),
            Self::WorkloadIdentity(workload) => of(&workload.registration),
        }
    }

    /// Returns true if a registration with `issuer` is configured. Such an issuer
    /// is preferred among several.
    pub(crate) fn knows(&self, issuer: &str) -> bool {
        let registrations = match self {
            Self::AuthorizationCode(code) => code.registrations.as_slice(),
            Self::ClientCredentials(credentials) => std::slice::from_ref(&credentials.registration),
            Self::EnterpriseManaged(enterprise) => std::slice::from_ref(&enterprise.registration),
            Self::TokenExchange(exchange) => std::slice::from_ref(&exchange.registration),
            Self::WorkloadIdentity(workload) => std::slice::from_ref(&workload.registration),
        };
        let own = |registration: &Registration| registration.issuer.as_deref() == Some(issuer);
        registrations.iter().any(own)
    }
}

/// Settings and connections that every grant uses.
#[derive(Debug)]
pub(crate) struct GrantContext {
    pub(crate) config: Config,
    pub(crate) http: Http,
    pub(crate) nonces: Nonces,
    pub(crate) records: CredentialRecords,
}

/// Server, resource and scopes of a token that is to be obtained.
#[derive(Clone, Debug)]
pub(crate) struct TokenSpec {
    pub(crate) server: Arc<AuthorizationServer>,
    /// The resource identifier, byte for byte.
    pub(crate) resource: String,
    pub(crate) scopes: Scopes,
    /// True for a token that is bound to a key.
    pub(crate) dpop: bool,
}

impl TokenSpec {
    /// Refuses to show a client to an issuer it is not registered with.
    fn admit(&self, registration: &Registration) -> Result<(), Error> {
        let issuer = &self.server.issuer;
        match registration.belongs_to(issuer) {
            true => Ok(()),
            false => Err(Error::new(
                Step::Registration,
                registration.mismatch(issuer),
            )),
        }
    }

    /// The request of a client that was registered beforehand.
    fn request(&self, registration: &Registration, form: Form) -> Result<TokenRequest, Error> {
        Ok(TokenRequest {
            server: self.server.clone(),
            client: Client::registered(registration),
            form,
            dpop: self.key().at(Step::Token)?,
        })
    }

    fn key(&self) -> Result<Option<Arc<DpopKey>>, Fault> {
        let key = self.dpop.then(DpopKey::generate);
        Ok(key.transpose()?.map(Arc::new))
    }

    fn form(&self, grant_type: &str) -> Form {
        let mut form = Form::new(grant_type);
        form.add("resource", &self.resource);
        form.add_scopes(&self.scopes);
        form
    }

    fn form_without_resource(&self, grant_type: &str) -> Form {
        let mut form = Form::new(grant_type);
        form.add_scopes(&self.scopes);
        form
    }
}

const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
