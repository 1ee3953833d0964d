//! One request to the MCP server, from the first try to the last.

use std::sync::Arc;

use http::{HeaderMap, Method, StatusCode, Uri};
use url::Url;

use crate::discovery::Challenges;
use crate::endpoint::Reach;
use crate::error::{At, Error, Fault, Step};
use crate::printable::printable;
use crate::token::{Session, USE_DPOP_NONCE, nonce};
use crate::token_manager::{RenewalReason, TokenManager, TokenSource};

/// One request to the MCP server, which may have to be sent more than once.
///
/// A transport asks [`authorize`](Self::authorize) for the header fields of
/// each try and tells [`review`](Self::review) each answer. How often a request
/// may be authorized anew is counted here, so every request needs its own.
#[derive(Debug)]
pub struct Attempt {
    manager: Arc<TokenManager>,
    shown: Option<Arc<Session>>,
    /// The session that the last review has obtained, for the next try.
    ready: Option<Arc<Session>>,
    /// The session that was granted during this attempt.
    granted: Option<Arc<Session>>,
    /// The session that was refreshed during this attempt.
    refreshed: Option<Arc<Session>>,
    authorizations: u32,
    nonces: u32,
}

/// Decision about a response: hand it on, or send the request again.
#[expect(
    clippy::exhaustive_enums,
    reason = "a transport either sends again or does not; a third thing would break it"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryDecision {
    /// The answer has nothing to do with authorization: hand it on.
    Deliver,
    /// Drop the answer, ask [`Attempt::authorize`] and send the request again.
    Retry,
}

impl Attempt {
    pub(crate) fn new(manager: Arc<TokenManager>) -> Self {
        Self {
            manager,
            shown: None,
            ready: None,
            granted: None,
            refreshed: None,
            authorizations: 0,
            nonces: 0,
        }
    }

    /// Returns the header fields to send with a request; none as long as the
    /// server has not asked for any.
    ///
    /// `uri` is the absolute URI the request goes to. A token that is about to
    /// expire is renewed first.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if `uri` is not part of the resource the token is
    /// for: a token is never shown elsewhere. Otherwise the renewal or the
    /// credential store failed.
    ///
    /// # Cancel safety
    ///
    /// Safe: a renewal that has begun is finished for the next caller.
    pub async fn authorize(&mut self, method: &Method, uri: &Uri) -> Result<HeaderMap, Error> {
        self.shown = match self.ready.take() {
            Some(session) => Some(session),
            None => self.manager.session().await?,
        };
        let Some(session) = &self.shown else {
            return Ok(HeaderMap::new());
        };
        if !is_part(&session.resource, uri) {
            let uri = printable(&uri.to_string());
            return Err(Error::new(Step::Request, Fault::OtherResource { uri }));
        }
        let nonce = self.manager.nonce();
        let headers = session.headers(method, uri, nonce.as_deref());
        headers.at(Step::Request)
    }

    /// Decides what to do with the answer to a request that was sent with the
    /// header fields of [`authorize`](Self::authorize).
    ///
    /// Must see every answer: any of them may bring a nonce. If the server
    /// wants a token or another one, it is obtained here, which may take as
    /// long as a user needs to sign in.
    ///
    /// # Errors
    ///
    /// There will be no token, and the request cannot succeed. The error says
    /// at which step and what to do.
    ///
    /// # Cancel safety
    ///
    /// Safe: what an authorization server has already issued is kept for the
    /// next caller.
    pub async fn review(
        &mut self,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Result<RetryDecision, Error> {
        self.manager.learn(headers);
        let challenges = Challenges::read(headers);
        let error = challenges.error.as_deref();
        let reason = match (status, error, self.shown.clone()) {
            (StatusCode::UNAUTHORIZED, Some(USE_DPOP_NONCE), Some(shown))
                if shown.dpop.is_some() =>
            {
                return self.accept_nonce(headers).at(Step::Request);
            }
            (StatusCode::UNAUTHORIZED, _, Some(shown)) if is(&shown, &self.refreshed) => {
                RenewalReason::Refused(shown, challenges)
            }
            (StatusCode::UNAUTHORIZED, _, shown) => RenewalReason::Unauthorized(shown, challenges),
            (StatusCode::FORBIDDEN, Some("insufficient_scope"), Some(shown)) => {
                RenewalReason::Scope(shown, challenges)
            }
            (StatusCode::FORBIDDEN, Some("insufficient_scope"), None) => {
                RenewalReason::Unauthorized(None, challenges)
            }
            _ => return Ok(RetryDecision::Deliver),
        };
        self.check_hope(&reason).at(Step::Request)?;
        let (session, source) = self.manager.renew(reason).await?;
        self.authorizations += 1;
        match source {
            TokenSource::Adopted => {}
            TokenSource::Granted => self.granted = Some(session.clone()),
            TokenSource::Refreshed => self.refreshed = Some(session.clone()),
        }
        self.ready = Some(session);
        Ok(RetryDecision::Retry)
    }

    /// The next try will carry the nonce; some servers change it at once.
    fn accept_nonce(&mut self, headers: &HeaderMap) -> Result<RetryDecision, Fault> {
        self.nonces += 1;
        match nonce(headers).is_some() && self.nonces <= MAX_NONCES {
            true => Ok(RetryDecision::Retry),
            false => Err(Fault::EndlessNonces),
        }
    }

    /// Gives up where another authorization would only repeat the last one
    /// (AUTH-C21).
    fn check_hope(&self, reason: &RenewalReason) -> Result<(), Fault> {
        let limit = self.manager.context.config.max_authorizations;
        if self.authorizations >= limit {
            return Err(Fault::Exhausted { limit });
        }
        match reason {
            RenewalReason::Scope(shown, challenges) => {
                let wanted = challenges.scope.as_ref().ok_or(Fault::ScopeNotNamed)?;
                if shown.requested.covers(wanted) {
                    let scopes = printable(&wanted.to_string());
                    return Err(Fault::ScopeNotGranted { scopes });
                }
            }
            RenewalReason::Unauthorized(Some(shown), _) if is(shown, &self.granted) => {
                return Err(Fault::FreshTokenRejected);
            }
            RenewalReason::Due(_)
            | RenewalReason::Refused(..)
            | RenewalReason::Unauthorized(..) => {}
        }
        Ok(())
    }
}

fn is(session: &Arc<Session>, other: &Option<Arc<Session>>) -> bool {
    other
        .as_ref()
        .is_some_and(|other| Arc::ptr_eq(session, other))
}

fn is_part(resource: &str, uri: &Uri) -> bool {
    let resource = Reach::Loopback.check("resource", resource);
    let uri = Url::parse(&uri.to_string());
    match (resource, uri) {
        (Ok(resource), Ok(uri)) => resource.covers(&uri),
        _ => false,
    }
}

/// A server that wants yet another one is playing with us.
const MAX_NONCES: u32 = 3;
