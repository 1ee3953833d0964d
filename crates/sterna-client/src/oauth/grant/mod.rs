//! The ways to a token.

mod assertion;
mod code;
mod credentials;
mod enterprise;
mod redirect;
mod workload;

use std::sync::Arc;

pub use assertion::AssertionSource;
pub use code::AuthorizationCode;
pub(super) use code::OFFLINE_ACCESS;
pub use credentials::ClientCredentials;
pub use enterprise::{EnterpriseManaged, IdentityProvider};
pub use workload::WorkloadIdentity;

use super::client::{Client, ClientAuth, Registration};
use super::config::Config;
use super::discovery::AuthorizationServer;
use super::error::{At, Error, Fault, Step};
use super::http::Http;
use super::scope::Scopes;
use super::store::Vault;
use super::token::{DpopKey, Form, Nonces, TokenRequest};

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
    /// For a workload that its platform vouches for.
    WorkloadIdentity(WorkloadIdentity),
}

impl Grant {
    /// Does everything up to the request that redeems the grant.
    pub(super) async fn prepare(
        &self,
        tools: &Tools,
        order: &Order,
    ) -> Result<TokenRequest, Error> {
        match self {
            Self::AuthorizationCode(code) => code.prepare(tools, order).await,
            Self::ClientCredentials(credentials) => credentials.prepare(order),
            Self::EnterpriseManaged(enterprise) => enterprise.prepare(tools, order).await,
            Self::WorkloadIdentity(workload) => workload.prepare(order).await,
        }
    }

    /// Whether a person is needed for it.
    pub(super) fn is_interactive(&self) -> bool {
        matches!(self, Self::AuthorizationCode(_))
    }

    /// How the configured client of this id authenticates to `issuer`.
    pub(super) fn configured(&self, issuer: &str, id: Option<&str>) -> Option<ClientAuth> {
        let of = |registration: &Registration| {
            let own = registration.client_id.as_deref() == id && registration.belongs_to(issuer);
            own.then(|| registration.auth.clone())
        };
        match self {
            Self::AuthorizationCode(code) => code.configured(issuer, id),
            Self::ClientCredentials(credentials) => of(&credentials.registration),
            Self::EnterpriseManaged(enterprise) => of(&enterprise.registration),
            Self::WorkloadIdentity(workload) => of(&workload.registration),
        }
    }

    /// Whether a registration with `issuer` is configured, which makes it the
    /// one to choose among several.
    pub(super) fn knows(&self, issuer: &str) -> bool {
        let registrations = match self {
            Self::AuthorizationCode(code) => code.registrations.as_slice(),
            Self::ClientCredentials(credentials) => std::slice::from_ref(&credentials.registration),
            Self::EnterpriseManaged(enterprise) => std::slice::from_ref(&enterprise.registration),
            Self::WorkloadIdentity(workload) => std::slice::from_ref(&workload.registration),
        };
        let own = |registration: &Registration| registration.issuer.as_deref() == Some(issuer);
        registrations.iter().any(own)
    }
}

/// What every way to a token works with.
#[derive(Debug)]
pub(super) struct Tools {
    pub(super) config: Config,
    pub(super) http: Http,
    pub(super) nonces: Nonces,
    pub(super) vault: Vault,
}

/// What a token shall be good for.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) server: Arc<AuthorizationServer>,
    /// The resource identifier, byte for byte.
    pub(super) resource: String,
    pub(super) scopes: Scopes,
    /// Whether it shall be bound to a key.
    pub(super) dpop: bool,
}

impl Order {
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
}

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
