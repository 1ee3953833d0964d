//! Calls of servers of before 2026-07-28 that ask while they run: kept here,
//! with their connection, while the client is away with the question.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use sterna_client::{Error, PausedCall, Step};
use sterna_protocol::input::InputResponses;
use sterna_protocol::result::Outcome;
use sterna_runner::effects::random_bytes;
use sterna_server::RequestError;
use sterna_server::auth::Principal;
use sterna_store::{FlowId, Store};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::fleet::Fleet;
use super::older::{self, CallConnection};
use super::state::Position;
use super::{RoutedCall, UpstreamCall};
use crate::config::GatewayConfig;
use crate::failure::Reason;

/// Calls that wait for answers.
#[derive(Debug)]
pub(crate) struct HeldCalls {
    limits: GatewayConfig,
    /// Other replicas, which answers may reach.
    fleet: Option<Fleet>,
    calls: Mutex<HashMap<FlowId, HeldCall>>,
    /// Listeners for answers that reached another replica. They end with this.
    listeners: Mutex<JoinSet<()>>,
    this: Weak<Self>,
}

/// A call that waits for answers.
#[derive(Debug)]
struct HeldCall {
    principal: Principal,
    since: Instant,
    /// An [`OpenCall`] of one of the three results.
    call: Box<dyn Any + Send>,
    /// Ends its listener when it is dropped.
    _listened: oneshot::Sender<()>,
}

/// A paused call and its connection. Dropping it cancels the call at its server.
#[derive(Debug)]
struct OpenCall<T> {
    // First, so that the call has ended before its session is free for the next.
    paused: PausedCall<T>,
    connection: CallConnection,
}

impl HeldCalls {
    pub(crate) fn new(limits: &GatewayConfig, fleet: Option<Fleet>) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            limits: limits.clone(),
            fleet,
            calls: Mutex::default(),
            listeners: Mutex::default(),
            this: this.clone(),
        })
    }

    /// The store that replicas share.
    pub(crate) fn store(&self) -> Option<Arc<dyn Store>> {
        self.fleet.as_ref().map(Fleet::store)
    }

    /// Goes on with the call that is held under `id`, here or at another replica.
    ///
    /// # Cancel safety
    ///
    /// Dropped, a call that is held here is cancelled at the server; one that is held
    /// elsewhere goes on.
    pub(super) async fn go_on<T: UpstreamCall>(
        &self,
        routed: RoutedCall,
        id: &str,
    ) -> Result<Outcome<T>, RequestError> {
        let Some(id) = read_id(id) else {
            return Err(routed.failed(Reason::HeldCallGone));
        };
        let answers = InputResponses::from(routed.call.answers().clone());
        let found = self.take::<T>(id);
        match (found, self.fleet_of(&routed)) {
            (None, None) => {
                let reissued = routed.reissue(self).await;
                reissued.unwrap_or_else(|| Err(routed.failed(Reason::HeldCallGone)))
            }
            (None, Some(fleet)) => match fleet.ask(&routed, id).await {
                Ok(outcome) => outcome,
                Err(lost) => self.reissue_for_all(fleet, &routed, id, lost).await,
            },
            (Some(open), None) => {
                let (connection, reached) = open.resume(&routed, &answers).await;
                older::proceed(routed, self, connection, reached)
            }
            (Some(open), Some(fleet)) => {
                if !fleet.claim_to_answer(id).await {
                    // Another replica has told its client that the server has no answer.
                    let reissued = routed.reissue(self).await;
                    return reissued
                        .unwrap_or_else(|| Err(routed.failed(Reason::HeldCallUnanswered)));
                }
                let work = async {
                    let (connection, reached) = open.resume(&routed, &answers).await;
                    older::proceed(routed, self, connection, reached)
                };
                fleet.work(id, work).await
            }
        }
    }

    /// Sends a lost call anew, if that is allowed, or refuses the answers to it. The
    /// outcome is that of all replicas that have the same answers.
    async fn reissue_for_all<T: UpstreamCall>(
        &self,
        fleet: &Fleet,
        routed: &RoutedCall,
        id: FlowId,
        lost: Reason,
    ) -> Result<Outcome<T>, RequestError> {
        let work = async {
            let reissued = routed.reissue(self).await;
            reissued.unwrap_or_else(|| Err(routed.failed(lost)))
        };
        match lost {
            // This replica has the claim.
            Reason::HeldCallUnanswered => fleet.work(id, work).await,
            _ => work.await,
        }
    }

    /// Other replicas that the answers to a call may reach. The call of a client that
    /// waits on its open request stays where it is.
    fn fleet_of(&self, routed: &RoutedCall) -> Option<&Fleet> {
        self.fleet.as_ref().filter(|_| !routed.has_waiting_client())
    }

    /// Takes a call that is held here.
    fn take<T: UpstreamCall>(&self, id: FlowId) -> Option<OpenCall<T>> {
        let held = self.lock().remove(&id)?;
        held.call.downcast().ok().map(|open| *open)
    }

    /// Keeps a call, and returns to the client with its questions.
    pub(super) fn hold<T: UpstreamCall>(
        &self,
        routed: &RoutedCall,
        connection: CallConnection,
        paused: PausedCall<T>,
    ) -> Result<Outcome<T>, RequestError> {
        let server = routed.upstream.name();
        match paused.held() {
            Some(reason) => {
                tracing::debug!(target: "sterna::gateway", server, %reason, "a call is held");
            }
            None => {
                tracing::debug!(target: "sterna::gateway", server, "a question is too large to be carried");
            }
        }
        let questions = older::open_questions(&paused);
        let open = OpenCall { paused, connection };
        let id = self.keep(routed, open);
        let id = id.map_err(|reason| routed.failed(reason))?;
        older::asking(routed, questions, Position::Held(id.to_string()))
    }

    /// Keeps a call, and says under which id.
    fn keep<T: UpstreamCall>(
        &self,
        routed: &RoutedCall,
        open: OpenCall<T>,
    ) -> Result<FlowId, Reason> {
        let id = FlowId::from_bytes(random_bytes().map_err(|_| Reason::Lost)?);
        let id = self.fleet.as_ref().map_or(id, |fleet| fleet.place(id));
        let principal = routed.call.caller().principal();
        let (listened, gone) = oneshot::channel();
        {
            let mut calls = self.lock();
            let of_caller = calls.values().filter(|held| held.principal == *principal);
            let of_caller = of_caller.count();
            if calls.len() >= self.limits.held_in_all || of_caller >= self.limits.held_per_caller {
                // The call is cancelled without the lock.
                drop(calls);
                return Err(Reason::TooManyHeld);
            }
            let held = HeldCall {
                principal: principal.clone(),
                since: Instant::now(),
                call: Box::new(open),
                _listened: listened,
            };
            calls.insert(id, held);
        }
        if let Some(fleet) = self.fleet_of(routed) {
            let (this, fleet) = (self.this.clone(), fleet.clone());
            let mut listeners = self.listeners();
            while listeners.try_join_next().is_some() {}
            listeners.spawn(listen::<T>(this, fleet, routed.clone(), id, gone));
        }
        Ok(id)
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

    /// Number of calls that are held.
    pub(crate) fn count(&self) -> u64 {
        u64::try_from(self.lock().len()).unwrap_or(u64::MAX)
    }

    /// Drops all calls, which cancels them.
    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut *self.lock());
        drop(all);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<FlowId, HeldCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listeners(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: UpstreamCall> OpenCall<T> {
    /// Gives the server the answers, if all of them fit their questions, and follows
    /// the call up to its result or to the next questions.
    async fn resume(
        self,
        routed: &RoutedCall,
        answers: &InputResponses,
    ) -> (CallConnection, Result<Step<T>, Error>) {
        let Self {
            mut paused,
            connection,
        } = self;
        if !older::answer(&mut paused, answers) {
            return (connection, Ok(Step::InputRequired(paused)));
        }
        let resumed = paused.resume(connection.client()).options(routed.options());
        let reached = resumed.await;
        (connection, reached)
    }
}

/// Waits for answers to a held call that reach another replica, and goes on with it.
async fn listen<T: UpstreamCall>(
    held: Weak<HeldCalls>,
    fleet: Fleet,
    routed: RoutedCall,
    id: FlowId,
    gone: oneshot::Receiver<()>,
) {
    let answers = tokio::select! {
        answers = fleet.answers(id) => answers,
        _ = gone => return,
    };
    let Some(open) = held.upgrade().and_then(|held| held.take::<T>(id)) else {
        return;
    };
    let mut routed = routed;
    if let Some(record) = &mut routed.record {
        *record = record.asking(open.paused.questions());
        record.note(&answers);
    }
    if !fleet.claim_to_answer(id).await {
        return;
    }
    let work = async {
        let (connection, reached) = open.resume(&routed, &answers).await;
        match held.upgrade() {
            Some(held) => older::proceed(routed, &held, connection, reached),
            None => Err(routed.failed(Reason::HeldCallGone)),
        }
    };
    // The replica that has the answers reads what came of them.
    let _ = fleet.work(id, work).await;
}

/// Reads the id of a held call, as a state has it.
fn read_id(text: &str) -> Option<FlowId> {
    let number = u128::from_str_radix(text, 16).ok()?;
    Some(FlowId::from_bytes(number.to_be_bytes()))
}
