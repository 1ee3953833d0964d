//! Keeps the session of one MCP server, and lets one flow at a time renew it.

mod flow;
mod need;
mod redeem;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};

use http::HeaderMap;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

pub(super) use need::Need;

use super::discovery::{AuthorizationServer, ServerUrl};
use super::error::{Error, ErrorKind};
use super::grant::{Grant, Tools};
use super::scope::Scopes;
use super::token::Session;
use crate::clock::UnixSeconds;

/// What is known about the tokens of one MCP server.
#[derive(Debug)]
pub(super) struct Keeper {
    pub(super) server: ServerUrl,
    pub(super) tools: Tools,
    grant: Grant,
    /// Scopes that the application asks for in place of what the server lists.
    scopes: Option<Scopes>,
    known: StdMutex<Known>,
    /// The authorization server that was looked up last.
    issuer: StdMutex<Option<Arc<AuthorizationServer>>>,
    /// Held by the flow that renews the session; how the last one failed.
    turn: Mutex<Option<Failure>>,
    /// How many flows have ended.
    finished: AtomicU64,
    /// Held while a grant is being redeemed, even if its flow was cancelled.
    redeeming: Arc<Mutex<()>>,
    tasks: StdMutex<JoinSet<()>>,
}

#[derive(Debug)]
enum Known {
    /// The credential store has not been asked yet.
    Unread,
    Read(Option<Arc<Session>>),
}

#[derive(Debug)]
struct Failure {
    number: u64,
    need: Need,
    error: Error,
}

/// How a session was come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// Somebody else had renewed it already.
    Adopted,
    /// By the grant, from the start.
    Granted,
    /// With a refresh token.
    Refreshed,
}

impl Keeper {
    pub(super) fn new(
        server: ServerUrl,
        grant: Grant,
        scopes: Option<Scopes>,
        tools: Tools,
    ) -> Self {
        Self {
            server,
            tools,
            grant,
            scopes,
            known: StdMutex::new(Known::Unread),
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
    pub(super) async fn session(self: &Arc<Self>) -> Result<Option<Arc<Session>>, Error> {
        let Some(session) = self.stored().await? else {
            return Ok(None);
        };
        let now = UnixSeconds::now();
        let usable = || (!session.is_expired(now)).then(|| session.clone());
        if !session.is_due(now) {
            return Ok(Some(session));
        }
        if self.grant.is_interactive() && session.refresh.is_none() {
            return Ok(usable());
        }
        // While somebody signs in or renews, what is still good goes on being used.
        if usable().is_some() && self.turn.try_lock().is_err() {
            return Ok(usable());
        }
        match self.renew(Need::Due(session.clone())).await {
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

    /// Gets a session that meets `need`.
    ///
    /// Callers with the same need share one flow and its outcome, success or
    /// failure.
    pub(super) async fn renew(self: &Arc<Self>, need: Need) -> Result<(Arc<Session>, How), Error> {
        let before = self.finished.load(Ordering::Acquire);
        let mut turn = self.turn.lock().await;
        // A flow that was cancelled may still be redeeming what it had obtained;
        // its refresh token must not be used a second time.
        drop(self.redeeming.lock().await);
        if let Some(session) = self.known()
            && need.is_met_by(&session, UnixSeconds::now())
        {
            return Ok((session, How::Adopted));
        }
        let failed = turn.as_ref();
        if let Some(failure) =
            failed.filter(|last| last.number > before && last.need.is_same(&need))
        {
            return Err(failure.error.clone());
        }
        let outcome = self.run(&need).await;
        let number = self.finished.fetch_add(1, Ordering::AcqRel) + 1;
        let error = outcome.as_ref().err().cloned();
        *turn = error.map(|error| Failure {
            number,
            need,
            error,
        });
        outcome
    }

    /// Forgets the session and our registration with its issuer, or with the
    /// one where authorization got stuck.
    pub(super) async fn forget(&self) -> Result<(), Error> {
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
            self.tools.vault.remove_client(&issuer).await?;
        }
        Ok(())
    }

    /// Takes note of the nonce that an answer of the MCP server brings.
    pub(super) fn learn(&self, headers: &HeaderMap) {
        self.tools
            .nonces
            .learn(&self.server.endpoint.origin(), headers);
    }

    pub(super) fn nonce(&self) -> Option<String> {
        self.tools.nonces.of(&self.server.endpoint.origin())
    }

    async fn stored(&self) -> Result<Option<Arc<Session>>, Error> {
        if let Known::Read(session) = &*self.lock() {
            return Ok(session.clone());
        }
        let session = self.load().await?;
        let mut known = self.lock();
        if matches!(*known, Known::Unread) {
            *known = Known::Read(session.map(Arc::new));
        }
        match &*known {
            Known::Read(session) => Ok(session.clone()),
            Known::Unread => Ok(None),
        }
    }

    /// Reads the session from the store, if it is one for this server.
    async fn load(&self) -> Result<Option<Session>, Error> {
        let configured = |issuer: &str, id: Option<&str>| self.grant.configured(issuer, id);
        let url = &self.server.text;
        let session = self.tools.vault.session(url, configured).await?;
        Ok(session.filter(|session| self.is_ours(&session.resource)))
    }

    fn is_ours(&self, resource: &str) -> bool {
        let resource = self.tools.http.endpoint("resource", resource);
        resource.is_ok_and(|resource| resource.covers(self.server.endpoint.url()))
    }

    /// Drops a session that is of no more use, unless it was replaced meanwhile.
    async fn discard(&self, session: &Arc<Session>) -> Result<(), Error> {
        let current = self
            .known()
            .is_some_and(|known| Arc::ptr_eq(&known, session));
        if current {
            *self.lock() = Known::Read(None);
            self.tools.vault.remove_session(session).await?;
        }
        Ok(())
    }

    fn last_server(&self) -> Option<Arc<AuthorizationServer>> {
        let last = self.issuer.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone()
    }

    fn known(&self) -> Option<Arc<Session>> {
        match &*self.lock() {
            Known::Read(session) => session.clone(),
            Known::Unread => None,
        }
    }

    fn publish(&self, session: &Arc<Session>) {
        *self.lock() = Known::Read(Some(session.clone()));
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
