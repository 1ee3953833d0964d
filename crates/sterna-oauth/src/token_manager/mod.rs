//! Keeps the session of one MCP server, and lets one flow at a time renew it.

mod redeem;
mod renew;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};

use http::HeaderMap;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

pub(crate) use renew::RenewalReason;

use crate::clock::UnixSeconds;
use crate::discovery::{AuthorizationServer, Challenges, ServerUrl, TokenIssuer};
use crate::error::{Error, ErrorKind};
use crate::grant::{Grant, GrantContext};
use crate::scope::Scopes;
use crate::token::Session;

/// Tokens of one MCP server, cached and renewed.
#[derive(Debug)]
pub(crate) struct TokenManager {
    pub(crate) server: ServerUrl,
    pub(crate) context: GrantContext,
    grant: Grant,
    /// The authorization server that the application has named.
    named: Option<TokenIssuer>,
    /// Scopes that the application asks for in place of what the server lists.
    scopes: Option<Scopes>,
    known: StdMutex<CachedSession>,
    /// The authorization server that was looked up last.
    issuer: StdMutex<Option<Arc<AuthorizationServer>>>,
    /// Held by the task that renews the session; holds the last failure.
    turn: Mutex<Option<RenewalFailure>>,
    /// Number of renewals that have ended.
    finished: AtomicU64,
    /// Held while a grant is being redeemed, even if its flow was cancelled.
    redeeming: Arc<Mutex<()>>,
    tasks: StdMutex<JoinSet<()>>,
}

#[derive(Debug)]
enum CachedSession {
    /// The credential store has not been asked yet.
    Unread,
    Read(Option<Arc<Session>>),
}

#[derive(Debug)]
struct RenewalFailure {
    number: u64,
    reason: RenewalReason,
    error: Error,
}

/// Source of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenSource {
    /// Another caller had renewed it already.
    Adopted,
    /// By the grant, from the start.
    Granted,
    /// With a refresh token.
    Refreshed,
}

impl TokenManager {
    pub(crate) fn new(
        server: ServerUrl,
        grant: Grant,
        named: Option<TokenIssuer>,
        scopes: Option<Scopes>,
        context: GrantContext,
    ) -> Self {
        Self {
            server,
            context,
            grant,
            named,
            scopes,
            known: StdMutex::new(CachedSession::Unread),
            issuer: StdMutex::default(),
            turn: Mutex::default(),
            finished: AtomicU64::new(0),
            redeeming: Arc::default(),
            tasks: StdMutex::default(),
        }
    }

    /// The session to show with the next request, renewed if it is about to
    /// expire.
    ///
    /// Never starts an authorization that needs a person: that is done only
    /// when the server has asked for it.
    pub(crate) async fn session(self: &Arc<Self>) -> Result<Option<Arc<Session>>, Error> {
        let Some(session) = self.stored().await? else {
            if self.named.is_none() || self.grant.is_interactive() {
                return Ok(None);
            }
            let unasked = RenewalReason::Unauthorized(None, Challenges::default());
            return Ok(Some(self.renew(unasked).await?.0));
        };
        let now = UnixSeconds::now();
        let usable = || (!session.is_expired(now)).then(|| session.clone());
        if !session.is_due(now) {
            return Ok(Some(session));
        }
        if self.grant.is_interactive() && session.refresh.is_none() {
            return Ok(usable());
        }
        // During another renewal, a session that has not expired stays in use.
        if usable().is_some() && self.turn.try_lock().is_err() {
            return Ok(usable());
        }
        match self.renew(RenewalReason::Due(session.clone())).await {
            Ok((renewed, _)) => Ok(Some(renewed)),
            Err(error) if error.kind() == ErrorKind::Unavailable && usable().is_some() => {
                Ok(usable())
            }
            Err(error) if error.is_refusal() && self.grant.is_interactive() => {
                self.discard(&session).await?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Gets a session that meets `reason`.
    ///
    /// Callers with the same reason share one flow and its outcome, success or
    /// failure.
    pub(crate) async fn renew(
        self: &Arc<Self>,
        reason: RenewalReason,
    ) -> Result<(Arc<Session>, TokenSource), Error> {
        let before = self.finished.load(Ordering::Acquire);
        let mut turn = self.turn.lock().await;
        // A flow that was cancelled may still be redeeming what it had obtained;
        // its refresh token must not be used a second time.
        drop(self.redeeming.lock().await);
        if let Some(session) = self.known()
            && reason.is_met_by(&session, UnixSeconds::now())
        {
            return Ok((session, TokenSource::Adopted));
        }
        let failed = turn.as_ref();
        if let Some(failure) =
            failed.filter(|last| last.number > before && last.reason.is_same(&reason))
        {
            return Err(failure.error.clone());
        }
        let outcome = self.run(&reason).await;
        let number = self.finished.fetch_add(1, Ordering::AcqRel) + 1;
        let error = outcome.as_ref().err().cloned();
        *turn = error.map(|error| RenewalFailure {
            number,
            reason,
            error,
        });
        outcome
    }

    /// Forgets the session and our registration with its issuer, or with the
    /// one where authorization got stuck.
    pub(crate) async fn forget(&self) -> Result<(), Error> {
        let _turn = self.turn.lock().await;
        drop(self.redeeming.lock().await);
        let session = self.stored().await?;
        let mut issuers = BTreeSet::new();
        issuers.extend(self.last_server().map(|server| server.issuer.clone()));
        issuers.extend(session.as_ref().map(|session| session.issuer.clone()));
        if let Some(session) = session {
            self.discard(&session).await?;
        }
        for issuer in issuers {
            self.context.records.remove_client(&issuer).await?;
        }
        Ok(())
    }

    /// Takes note of the nonce that an answer of the MCP server brings.
    pub(crate) fn learn(&self, headers: &HeaderMap) {
        self.context
            .nonces
            .learn(&self.server.endpoint.origin(), headers);
    }

    pub(crate) fn nonce(&self) -> Option<String> {
        self.context.nonces.of(&self.server.endpoint.origin())
    }

    async fn stored(&self) -> Result<Option<Arc<Session>>, Error> {
        if let CachedSession::Read(session) = &*self.lock() {
            return Ok(session.clone());
        }
        let session = self.load().await?;
        let mut known = self.lock();
        if matches!(*known, CachedSession::Unread) {
            *known = CachedSession::Read(session.map(Arc::new));
        }
        match &*known {
            CachedSession::Read(session) => Ok(session.clone()),
            CachedSession::Unread => Ok(None),
        }
    }

    /// Reads the session from the store, if it is one for this server.
    async fn load(&self) -> Result<Option<Session>, Error> {
        let configured = |issuer: &str, id: Option<&str>| self.grant.configured(issuer, id);
        let url = &self.server.text;
        let session = self.context.records.session(url, configured).await?;
        Ok(session.filter(|session| self.is_ours(&session.resource)))
    }

    fn is_ours(&self, resource: &str) -> bool {
        let resource = self.context.http.endpoint("resource", resource);
        resource.is_ok_and(|resource| resource.covers(self.server.endpoint.url()))
    }

    /// Drops a session that is of no more use, unless it was replaced meanwhile.
    async fn discard(&self, session: &Arc<Session>) -> Result<(), Error> {
        let current = self
            .known()
            .is_some_and(|known| Arc::ptr_eq(&known, session));
        if current {
            *self.lock() = CachedSession::Read(None);
            self.context.records.remove_session(session).await?;
        }
        Ok(())
    }

    fn last_server(&self) -> Option<Arc<AuthorizationServer>> {
        let last = self.issuer.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone()
    }

    fn known(&self) -> Option<Arc<Session>> {
        match &*self.lock() {
            CachedSession::Read(session) => session.clone(),
            CachedSession::Unread => None,
        }
    }

    fn publish(&self, session: &Arc<Session>) {
        *self.lock() = CachedSession::Read(Some(session.clone()));
    }

    fn lock(&self) -> MutexGuard<'_, CachedSession> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
