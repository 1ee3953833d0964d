use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sterna_client::{Client, Era};
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_server::auth::{Caller, CallerToken, Principal};
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit};
use tokio::time::Instant;

use super::outside::OutsideQuestions;
use crate::credentials::rights;

/// Requests that may share a session with a server: those of one principal whose
/// client declares the same.
#[derive(Clone, Debug)]
pub(crate) struct SessionKey {
    /// `None` if all principals share the session.
    pub(super) principal: Option<Principal>,
    /// Capabilities as JSON, in the order of their names, and the rights of the
    /// caller where the server sees them.
    pub(super) capabilities: String,
    /// Token of the caller, where it is traded for one of the server.
    pub(super) token: Option<CallerToken>,
}

impl SessionKey {
    pub(crate) fn new(principal: Option<Principal>, capabilities: &ClientCapabilities) -> Self {
        let written = serde_json::to_string(capabilities);
        Self {
            principal,
            capabilities: written.expect("wire types have string keys only"),
            token: None,
        }
    }

    /// The key for a server that sees the rights of `caller`.
    pub(super) fn with_rights_of(mut self, caller: &Caller) -> Self {
        self.capabilities += &rights(caller);
        self.token = caller.token().cloned();
        self
    }
}

/// A session with a server: a child process, or a session over HTTP.
#[derive(Debug)]
pub(crate) struct UpstreamSession {
    pub(crate) client: Client,
    pub(crate) outside: Arc<OutsideQuestions>,
    /// `true` if a question does not tell by itself which call it belongs to.
    is_pipe: bool,
    /// `true` if no further call may use it.
    retired: AtomicBool,
    used: Mutex<Instant>,
    /// Held by the call that may be asked.
    pub(super) turn: Arc<tokio::sync::Mutex<()>>,
}

impl UpstreamSession {
    pub(super) fn new(client: Client, outside: Arc<OutsideQuestions>, is_pipe: bool) -> Self {
        Self {
            client,
            outside,
            is_pipe,
            retired: AtomicBool::new(false),
            used: Mutex::new(Instant::now()),
            turn: Arc::default(),
        }
    }

    pub(crate) fn is_legacy(&self) -> bool {
        self.client.era() == Era::Legacy
    }

    /// Lets no further call use the session; the next one opens another.
    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::SeqCst)
    }

    pub(super) fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Time at which it was last used.
    pub(super) fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right of one call to a session, alone: a question that does not say which
/// call it belongs to belongs to this one.
#[derive(Debug)]
pub(crate) struct SessionLease {
    pub(crate) session: Arc<UpstreamSession>,
    is_settled: bool,
    _turn: OwnedMutexGuard<()>,
    _place: OwnedSemaphorePermit,
}

impl SessionLease {
    pub(super) fn new(
        session: Arc<UpstreamSession>,
        turn: OwnedMutexGuard<()>,
        place: OwnedSemaphorePermit,
    ) -> Self {
        session.touch();
        Self {
            session,
            is_settled: false,
            _turn: turn,
            _place: place,
        }
    }

    /// Notes that the call has its answer.
    pub(crate) fn settle(&mut self) {
        self.is_settled = true;
    }
}

impl Drop for SessionLease {
    fn drop(&mut self) {
        self.session.touch();
        // On a pipe a late question of a call that was dropped would be taken for one of the next.
        if !self.is_settled && self.session.is_pipe {
            self.session.retire();
        }
    }
}
