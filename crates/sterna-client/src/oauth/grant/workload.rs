//! Workload identity: the platform vouches for the client (RFC 7523).

use std::fmt;
use std::sync::Arc;

use super::{AssertionSource, JWT_BEARER, Order};
use crate::oauth::client::Registration;
use crate::oauth::error::{At, Error, Fault, Step};
use crate::oauth::token::TokenRequest;

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

    pub(super) async fn prepare(&self, order: &Order) -> Result<TokenRequest, Error> {
        order.admit(&self.registration)?;
        let assertion = self.source.assertion(&order.server.issuer).await;
        let assertion = assertion.map_err(Fault::Assertion).at(Step::Token)?;
        let mut form = order.form(JWT_BEARER);
        form.add("assertion", assertion.expose().trim());
        order.request(&self.registration, form)
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
