//! Grants without a user: client credentials, and workload identity, where the
//! platform vouches for the client (RFC 7523).

use std::fmt;
use std::sync::Arc;

use super::{JWT_BEARER, TokenSpec};
use crate::BoxFuture;
use crate::client::Registration;
use crate::error::{At, BoxError, Error, Fault, Step};
use crate::secret::Secret;
use crate::token::TokenRequest;

/// A client that acts for itself, with its own secret or key.
#[derive(Clone, Debug)]
pub struct ClientCredentials {
    pub(super) registration: Registration,
}

impl ClientCredentials {
    /// Uses the client as it was registered.
    pub fn new(registration: Registration) -> Self {
        Self { registration }
    }

    pub(super) fn prepare(&self, spec: &TokenSpec) -> Result<TokenRequest, Error> {
        spec.admit(&self.registration)?;
        let form = spec.form("client_credentials");
        spec.request(&self.registration, form)
    }
}

impl From<ClientCredentials> for super::Grant {
    fn from(credentials: ClientCredentials) -> Self {
        Self::ClientCredentials(credentials)
    }
}

/// A workload that its platform vouches for: Kubernetes, SPIFFE, a cloud.
#[derive(Clone)]
pub struct WorkloadIdentity {
    pub(super) registration: Registration,
    source: Arc<dyn AssertionSource>,
}

impl WorkloadIdentity {
    /// Trades the platform's assertions for tokens of `issuer`, which knows the
    /// workload by them alone, as most authorization servers do.
    pub fn anonymous(issuer: impl Into<String>, source: impl AssertionSource + 'static) -> Self {
        Self::new(Registration::anonymous(issuer.into()), source)
    }

    /// Trades the platform's assertions for tokens of the registration's issuer.
    pub fn new(registration: Registration, source: impl AssertionSource + 'static) -> Self {
        Self {
            registration,
            source: Arc::new(source),
        }
    }

    pub(super) async fn prepare(&self, spec: &TokenSpec) -> Result<TokenRequest, Error> {
        spec.admit(&self.registration)?;
        let assertion = self.source.assertion(&spec.server.issuer).await;
        let assertion = assertion.map_err(Fault::Assertion).at(Step::Token)?;
        let mut form = spec.form(JWT_BEARER);
        form.add("assertion", assertion.expose().trim());
        spec.request(&self.registration, form)
    }
}

impl From<WorkloadIdentity> for super::Grant {
    fn from(workload: WorkloadIdentity) -> Self {
        Self::WorkloadIdentity(workload)
    }
}

impl fmt::Debug for WorkloadIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkloadIdentity")
            .field("registration", &self.registration)
            .finish_non_exhaustive()
    }
}

/// Gives a fresh assertion about who we are: a workload's token from its
/// platform, or a user's ID token from an identity provider.
///
/// A [`Secret`] is a source that always gives itself.
///
/// # Examples
///
/// A platform that renews a token in a file:
///
/// ```
/// use sterna_oauth::{AssertionSource, BoxError, BoxFuture, Secret};
///
/// struct Projected(std::path::PathBuf);
///
/// impl AssertionSource for Projected {
///     fn assertion<'a>(&'a self, _audience: &'a str) -> BoxFuture<'a, Result<Secret, BoxError>> {
///         Box::pin(async { Ok(Secret::from(std::fs::read_to_string(&self.0)?)) })
///     }
/// }
/// ```
pub trait AssertionSource: Send + Sync {
    /// Returns an assertion that will be shown to the issuer `audience`.
    fn assertion<'a>(&'a self, audience: &'a str) -> BoxFuture<'a, Result<Secret, BoxError>>;
}

impl AssertionSource for Secret {
    fn assertion<'a>(&'a self, _audience: &'a str) -> BoxFuture<'a, Result<Secret, BoxError>> {
        Box::pin(async { Ok(self.clone()) })
    }
}

/// One source may serve several MCP servers.
impl<T: AssertionSource + ?Sized> AssertionSource for Arc<T> {
    fn assertion<'a>(&'a self, audience: &'a str) -> BoxFuture<'a, Result<Secret, BoxError>> {
        (**self).assertion(audience)
    }
}
