//! A token and all that is needed to show and renew it.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Method, Uri};
use zeroize::Zeroizing;

use super::dpop::{DPOP, DpopKey};
use super::{Reply, Scheme};
use crate::client::Client;
use crate::clock::{Lifetime, UnixSeconds};
use crate::error::Fault;
use crate::scope::Scopes;
use crate::secret::Secret;

/// Tokens of one issuer for one resource.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) issuer: String,
    pub(crate) resource: String,
    pub(crate) client: Client,
    pub(crate) access: Secret,
    pub(crate) scheme: Scheme,
    pub(crate) expires: Option<UnixSeconds>,
    /// When it should be renewed, a little before it expires.
    pub(crate) refresh_at: Option<UnixSeconds>,
    pub(crate) refresh: Option<Secret>,
    /// Every scope asked for so far, granted or not.
    pub(crate) requested: Scopes,
    pub(crate) dpop: Option<Arc<DpopKey>>,
}

impl Session {
    pub(crate) fn is_due(&self, now: UnixSeconds) -> bool {
        self.refresh_at.is_some_and(|due| due <= now)
    }

    pub(crate) fn is_expired(&self, now: UnixSeconds) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }

    /// The same grant after a refresh.
    pub(crate) fn renewed(&self, reply: Reply, lifetime: Lifetime) -> Self {
        Self {
            issuer: self.issuer.clone(),
            resource: self.resource.clone(),
            client: self.client.clone(),
            access: reply.access,
            scheme: reply.scheme,
            expires: lifetime.expires,
            refresh_at: lifetime.refresh_at,
            // A server that does not rotate sends no new one.
            refresh: reply.refresh.or_else(|| self.refresh.clone()),
            requested: self.requested.clone(),
            dpop: self.dpop.clone(),
        }
    }

    /// The header fields that show this token with one request.
    pub(crate) fn headers(
        &self,
        method: &Method,
        uri: &Uri,
        nonce: Option<&str>,
    ) -> Result<HeaderMap, Fault> {
        let mut headers = HeaderMap::new();
        let token = self.access.expose();
        let shown = Zeroizing::new(format!("{} {token}", self.scheme.name()));
        let mut value = HeaderValue::from_str(&shown).map_err(|_| Fault::BadToken)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
        if let Some(key) = &self.dpop {
            let proof = key.prove(method.as_str(), &uri.to_string(), nonce, Some(token))?;
            let proof = HeaderValue::from_str(&proof).expect("base64 and dots are visible");
            headers.insert(DPOP, proof);
        }
        Ok(headers)
    }
}
