//! A token and all that is needed to show and renew it.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Method, Uri};
use zeroize::Zeroizing;

use super::dpop::{DPOP, DpopKey};
use super::{Reply, Scheme};
use crate::clock::UnixSeconds;
use crate::oauth::client::Client;
use crate::oauth::error::Fault;
use crate::oauth::scope::Scopes;
use crate::oauth::secret::Secret;

/// What one issuer has granted for one resource.
#[derive(Debug)]
pub(in crate::oauth) struct Session {
    pub(in crate::oauth) issuer: String,
    pub(in crate::oauth) resource: String,
    pub(in crate::oauth) client: Client,
    pub(in crate::oauth) access: Secret,
    pub(in crate::oauth) scheme: Scheme,
    pub(in crate::oauth) expires: Option<UnixSeconds>,
    /// When it should be renewed, a little before it expires.
    pub(in crate::oauth) refresh_at: Option<UnixSeconds>,
    pub(in crate::oauth) refresh: Option<Secret>,
    /// Every scope asked for so far, granted or not.
    pub(in crate::oauth) requested: Scopes,
    pub(in crate::oauth) dpop: Option<Arc<DpopKey>>,
}

impl Session {
    pub(in crate::oauth) fn is_due(&self, now: UnixSeconds) -> bool {
        self.refresh_at.is_some_and(|due| due <= now)
    }

    pub(in crate::oauth) fn is_expired(&self, now: UnixSeconds) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }

    /// The same grant after a refresh.
    pub(in crate::oauth) fn renewed(&self, reply: Reply, lifetime: Lifetime) -> Self {
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
    pub(in crate::oauth) fn headers(
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

/// From when to when a token can be used.
#[derive(Clone, Copy, Debug)]
pub(in crate::oauth) struct Lifetime {
    pub(in crate::oauth) expires: Option<UnixSeconds>,
    pub(in crate::oauth) refresh_at: Option<UnixSeconds>,
}

impl Lifetime {
    /// A token that lives `seconds` from `now` and is renewed `margin` before
    /// its end, but never in the first three quarters of a short life.
    pub(in crate::oauth) fn new(now: UnixSeconds, seconds: Option<u64>, margin: u64) -> Self {
        let expires = seconds.map(|seconds| now.plus(seconds));
        let margin = seconds.map_or(margin, |seconds| margin.min(seconds / 4));
        Self {
            expires,
            refresh_at: expires.map(|end| end.minus(margin)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_renewed_before_its_end_but_not_at_once() {
        let at = |seconds| {
            let lifetime = Lifetime::new(UnixSeconds(1000), seconds, 30);
            (
                lifetime.refresh_at.map(|t| t.0),
                lifetime.expires.map(|t| t.0),
            )
        };
        assert_eq!(at(Some(3600)), (Some(4570), Some(4600)));
        assert_eq!(at(Some(40)), (Some(1030), Some(1040)));
        assert_eq!(at(Some(0)), (Some(1000), Some(1000)));
        assert_eq!(at(Some(u64::MAX)), (Some(u64::MAX - 30), Some(u64::MAX)));
        assert_eq!(at(None), (None, None));
    }
}
