use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sterna_client::{Client, Error, PausedCall, Reply};
use sterna_protocol::capabilities::ClientCapabilities;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::lists::{Fetched, ServerLists};
use super::session::{SessionLease, UpstreamSession};
use super::{Freshness, Upstream};
use crate::config::SessionScope;
use crate::credentials::GroupCredential;
use crate::failure::{Reason, not_connected};

/// Sessions of one caller with one server. The first one is preferred, so that
/// a server which keeps something in its session finds it again.
#[derive(Debug)]
pub(super) struct SessionGroup {
    capabilities: ClientCapabilities,
    pub(super) credential: GroupCredential,
    sessions: Mutex<Vec<Arc<UpstreamSession>>>,
    /// Calls that may have a session of their own.
    places: Arc<Semaphore>,
    /// Held while a session is opened, so that requests that come together open one.
    opening: tokio::sync::Mutex<()>,
    /// Client for carried calls while there is no session, and its last use.
    carrier: Mutex<Option<(Client, Instant)>>,
    fetched: Mutex<Option<Fetched>>,
    /// Held while lists are fetched.
    fetching: tokio::sync::Mutex<()>,
}

impl SessionGroup {
    /// Creates a group in which a caller may hold so many calls.
    pub(super) fn new(
        capabilities: ClientCapabilities,
        credential: GroupCredential,
        held: usize,
    ) -> Self {
        Self {
            capabilities,
            credential,
            places: Arc::new(Semaphore::new(held + RUNNING)),
            sessions: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            carrier: Mutex::default(),
            fetched: Mutex::default(),
            fetching: tokio::sync::Mutex::default(),
        }
    }

    /// The first session, opened if there is none.
    pub(super) async fn any(&self, upstream: &Upstream) -> Result<Arc<UpstreamSession>, Reason> {
        let first = || self.usable().first().cloned();
        if let Some(session) = first() {
            session.touch();
            return Ok(session);
        }
        let _opening = self.opening.lock().await;
        if let Some(session) = first() {
            return Ok(session);
        }
        self.open(upstream).await
    }

    /// A session that no other call has, opened if there is none. Waits while as
    /// many calls have one as may.
    pub(super) async fn lease(&self, upstream: &Upstream) -> Result<SessionLease, Reason> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|_| Reason::Unreachable)?;
        let _opening = self.opening.lock().await;
        for session in self.usable() {
            if let Ok(turn) = Arc::clone(&session.turn).try_lock_owned() {
                return Ok(SessionLease::new(session, turn, place));
            }
        }
        let session = self.open(upstream).await?;
        let turn = Arc::clone(&session.turn).lock_owned().await;
        Ok(SessionLease::new(session, turn, place))
    }

    /// A client that goes on with `call`: that of a session, or one that opens
    /// none. A carried call has its own session, so that any client will do.
    pub(super) async fn carrier<T: Reply>(
        &self,
        upstream: &Upstream,
        call: &PausedCall<T>,
    ) -> Result<Client, Error> {
        let usable = self.usable();
        if let Some(session) = usable.iter().find(|session| session.is_legacy()) {
            session.touch();
            return Ok(session.client.clone());
        }
        if let Some((client, used)) = &mut *self.lock_carrier() {
            *used = Instant::now();
            return Ok(client.clone());
        }
        let builder = self.credential.attach(upstream.builder());
        let client = call.connect(builder).await?;
        *self.lock_carrier() = Some((client.clone(), Instant::now()));
        Ok(client)
    }

    async fn open(&self, upstream: &Upstream) -> Result<Arc<UpstreamSession>, Reason> {
        let session = Arc::new(
            upstream
                .connect(&self.capabilities, &self.credential)
                .await?,
        );
        self.lock().push(Arc::clone(&session));
        Ok(session)
    }

    /// Sessions that calls may use. Others are forgotten: they end with the calls
    /// that still have them.
    fn usable(&self) -> Vec<Arc<UpstreamSession>> {
        let mut sessions = self.lock();
        sessions.retain(|session| !session.is_retired());
        sessions.clone()
    }

    /// Lists that were fetched and are new enough.
    pub(super) fn known(&self, freshness: Freshness) -> Option<Arc<ServerLists>> {
        let fetched = self.fetched();
        let known = fetched.as_ref()?;
        let now = Instant::now();
        let serves = match freshness {
            Freshness::AsSaid => known.is_fresh(now),
            Freshness::ForCalls => known.serves_calls(now),
        };
        serves.then(|| Arc::clone(&known.lists))
    }

    /// Fetches the lists. Those that are as before stay the same value.
    pub(super) async fn fetch(&self, upstream: &Upstream) -> Result<Arc<ServerLists>, Reason> {
        let _fetching = self.fetching.lock().await;
        if let Some(known) = self.known(Freshness::AsSaid) {
            return Ok(known);
        }
        let session = self.any(upstream).await?;
        let listed = match ServerLists::fetch(&session.client).await {
            Ok(listed) => Arc::new(listed),
            Err(error) => {
                let server = upstream.name();
                tracing::warn!(target: "sterna::gateway", server, %error, "the server does not list what it offers");
                upstream.note_failure(&session, &error);
                return Err(not_connected(&error));
            }
        };
        let mut fetched = self.fetched();
        let before = fetched.as_ref().map(|before| Arc::clone(&before.lists));
        let lists = before
            .filter(|before| **before == *listed)
            .unwrap_or(listed);
        *fetched = Some(Fetched {
            lists: Arc::clone(&lists),
            at: Instant::now(),
        });
        if upstream.config.session == SessionScope::Call {
            session.retire();
        }
        Ok(lists)
    }

    /// Closes sessions that were not used since `before`, in good order. Returns
    /// `true` if one is left.
    pub(super) async fn close_idle(&self, before: Option<Instant>) -> bool {
        let idle = {
            let mut sessions = self.lock();
            let is_idle = |session: &Arc<UpstreamSession>| {
                let is_old = before.is_none_or(|before| session.used() < before);
                let is_free = before.is_none() || session.turn.try_lock().is_ok();
                session.is_retired() || is_old && is_free
            };
            let (idle, kept): (Vec<_>, Vec<_>) = sessions.drain(..).partition(is_idle);
            *sessions = kept;
            idle
        };
        let closing = idle.into_iter().map(|session| async move {
            session.retire();
            session.client.clone().close().await;
        });
        futures::future::join_all(closing).await;
        let has_carrier = {
            let mut carrier = self.lock_carrier();
            let is_old = |used: &Instant| before.is_none_or(|before| *used < before);
            // Dropping it ends nothing at the server.
            carrier.take_if(|(_, used)| is_old(used));
            carrier.is_some()
        };
        has_carrier || !self.lock().is_empty()
    }

    fn lock_carrier(&self) -> MutexGuard<'_, Option<(Client, Instant)>> {
        self.carrier.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of open sessions.
    pub(super) fn len(&self) -> u64 {
        u64::try_from(self.lock().len()).unwrap_or(u64::MAX)
    }

    /// Closes sessions that no call has, in good order. Returns `true` if one is
    /// left.
    pub(super) async fn close_unused(&self) -> bool {
        let (unused, is_left) = {
            let mut sessions = self.lock();
            let is_unused = |session: &Arc<UpstreamSession>| Arc::strong_count(session) == 1;
            let (unused, kept): (Vec<_>, Vec<_>) = sessions.drain(..).partition(is_unused);
            *sessions = kept;
            (unused, !sessions.is_empty())
        };
        let closing = unused.iter().map(|session| session.client.clone().close());
        futures::future::join_all(closing).await;
        is_left
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<UpstreamSession>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fetched(&self) -> MutexGuard<'_, Option<Fetched>> {
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls that may run beside those that are held.
const RUNNING: usize = 4;
