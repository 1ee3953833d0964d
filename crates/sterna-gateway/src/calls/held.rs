//! Calls of servers of before 2026-07-28 that ask while they run: kept here,
//! with their connection, while the client is away with the question.

use std::any::Any;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sterna_client::PausedCall;
use sterna_protocol::result::Outcome;
use sterna_server::RequestError;
use sterna_server::auth::Principal;
use tokio::time::Instant;

use super::older::{self, CallConnection};
use super::state::Position;
use super::{RoutedCall, UpstreamCall};
use crate::config::GatewayConfig;
use crate::failure::Reason;

/// Calls that wait for answers.
#[derive(Debug)]
pub(crate) struct HeldCalls {
    limits: GatewayConfig,
    /// Distinguishes this process from others, and from itself before a restart.
    replica: u64,
    last: AtomicU64,
    calls: Mutex<HashMap<String, HeldCall>>,
}

/// A call that waits for answers.
#[derive(Debug)]
struct HeldCall {
    principal: Principal,
    since: Instant,
    /// An [`OpenCall`] of one of the three results.
    call: Box<dyn Any + Send>,
}

/// A paused call and its connection. Dropping it cancels the call at its server.
#[derive(Debug)]
struct OpenCall<T> {
    // First, so that the call has ended before its session is free for the next.
    paused: PausedCall<T>,
    connection: CallConnection,
}

impl HeldCalls {
    pub(crate) fn new(limits: &GatewayConfig) -> Self {
        Self {
            limits: limits.clone(),
            replica: RandomState::new().hash_one(()),
            last: AtomicU64::new(0),
            calls: Mutex::default(),
        }
    }

    /// Goes on with the call that is held under `id`.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the call is cancelled at the server.
    pub(super) async fn go_on<T: UpstreamCall>(
        &self,
        routed: RoutedCall,
        id: &str,
    ) -> Result<Outcome<T>, RequestError> {
        let found = self.lock().remove(id);
        let found = found.and_then(|held| held.call.downcast::<OpenCall<T>>().ok());
        let Some(open) = found else {
            return Err(routed.failed(Reason::HeldCallGone));
        };
        let OpenCall {
            mut paused,
            connection,
        } = *open;
        if !older::answer(&mut paused, &routed) {
            return self.hold(&routed, connection, paused);
        }
        let resumed = paused.resume(connection.client()).options(routed.options());
        let reached = resumed.await;
        // What is left of it has no connection any more.
        drop(paused);
        older::proceed(routed, self, connection, reached)
    }

    /// Keeps a call, and returns to the client with its questions.
    pub(super) fn hold<T: UpstreamCall>(
        &self,
        routed: &RoutedCall,
        connection: CallConnection,
        paused: PausedCall<T>,
    ) -> Result<Outcome<T>, RequestError> {
        if let Some(reason) = paused.held() {
            let server = routed.upstream.name();
            tracing::debug!(target: "sterna::gateway", server, %reason, "a call is held");
        }
        let questions = older::open_questions(&paused);
        let open = OpenCall { paused, connection };
        match self.keep(routed, open) {
            Some(id) => older::asking(routed, questions, Position::Held(id)),
            None => Err(routed.failed(Reason::TooManyHeld)),
        }
    }

    /// Keeps a call, and says under which id; `None` if there are too many.
    fn keep<T: UpstreamCall>(&self, routed: &RoutedCall, open: OpenCall<T>) -> Option<String> {
        let principal = routed.call.caller().principal();
        let mut calls = self.lock();
        let of_caller = calls.values().filter(|held| held.principal == *principal);
        let of_caller = of_caller.count();
        if calls.len() >= self.limits.held_in_all || of_caller >= self.limits.held_per_caller {
            // The call is cancelled without the lock.
            drop(calls);
            return None;
        }
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        let id = format!("{:016x}.{number}", self.replica);
        let held = HeldCall {
            principal: principal.clone(),
            since: Instant::now(),
            call: Box::new(open),
        };
        calls.insert(id.clone(), held);
        Some(id)
    }

    /// Drops the calls whose time is over at `now`, which cancels them.
    pub(crate) fn expire(&self, now: Instant) {
        let longest = self.limits.held_for;
        let mut calls = self.lock();
        let is_over = |held: &HeldCall| now.duration_since(held.since) >= longest;
        let (over, left) = std::mem::take(&mut *calls)
            .into_iter()
            .partition::<HashMap<_, _>, _>(|(_, held)| is_over(held));
        *calls = left;
        // Calls are cancelled without the lock.
        drop(calls);
        drop(over);
    }

    /// Drops all calls, which cancels them.
    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut *self.lock());
        drop(all);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, HeldCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
