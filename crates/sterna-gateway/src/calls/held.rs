//! Calls of servers of before 2026-07-28 that ask while they run: kept here,
//! with their connection, while the client is away with the question.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sterna_client::Error;
use sterna_protocol::input::{InputRequests, InputRequired, RequestState};
use sterna_protocol::result::Outcome;
use sterna_server::RequestError;
use sterna_server::auth::Principal;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::listener::Listener;
use super::state::{Position, RouteState};
use super::{RoutedCall, UpstreamCall};
use crate::config::{GatewayConfig, SessionScope};
use crate::failure::{Reason, of_call};
use crate::upstream::{OpenQuestion, SessionLease};

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
    /// A [`RunningCall`] of one of the three results.
    running: Box<dyn Any + Send>,
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

    /// Calls the server on a session that is this call's alone.
    pub(super) async fn begin<T: UpstreamCall>(
        &self,
        routed: RoutedCall,
        lease: SessionLease,
    ) -> Result<Outcome<T>, RequestError> {
        let listener = Arc::new(Listener::new(&routed.call));
        let call = T::build(&lease.session.client, &routed.name, &routed.call)?;
        let call = call.options(listener.options(&routed.call));
        let mut work = JoinSet::new();
        work.spawn(call.into_future());
        let running = RunningCall {
            work,
            open: BTreeMap::new(),
            listener,
            lease,
        };
        self.follow(routed, running).await
    }

    /// Goes on with the call that is held under `id`.
    pub(super) async fn go_on<T: UpstreamCall>(
        &self,
        routed: RoutedCall,
        id: &str,
    ) -> Result<Outcome<T>, RequestError> {
        let found = self.lock().remove(id);
        let found = found.and_then(|held| held.running.downcast::<RunningCall<T>>().ok());
        let Some(mut running) = found else {
            return Err(routed.failed(Reason::HeldCallGone));
        };
        running.listener.replace(&routed.call);
        running.answer(&routed);
        self.follow(routed, *running).await
    }

    /// Waits for the result or for questions. Dropped meanwhile, the call is
    /// cancelled at its server.
    async fn follow<T: UpstreamCall>(
        &self,
        routed: RoutedCall,
        mut running: RunningCall<T>,
    ) -> Result<Outcome<T>, RequestError> {
        if running.open.is_empty() {
            match running.next().await {
                Next::Asked => {}
                Next::Done(done) => {
                    running.lease.settle();
                    let session = &running.lease.session;
                    if routed.upstream.config.session == SessionScope::Call {
                        session.retire();
                    }
                    return done.map(Outcome::Complete).map_err(|error| {
                        routed.upstream.note_failure(session, &error);
                        of_call(routed.upstream.name(), &error)
                    });
                }
                Next::Lost => return Err(routed.failed(Reason::Lost)),
            }
        }
        let questions = running.open.values();
        let questions: InputRequests = questions
            .map(|open| (open.key.as_str(), open.request.clone()))
            .collect();
        let Some(id) = self.hold(&routed, running) else {
            return Err(routed.failed(Reason::TooManyHeld));
        };
        let state = RouteState::write(routed.upstream.name(), Position::Held(id));
        let required = InputRequired::new(questions, Some(RequestState::new(state)));
        let required = required.map_err(|_| routed.failed(Reason::Unsupported))?;
        Ok(Outcome::InputRequired(required))
    }

    /// Keeps a call, and says under which id; `None` if there are too many.
    fn hold<T: UpstreamCall>(
        &self,
        routed: &RoutedCall,
        running: RunningCall<T>,
    ) -> Option<String> {
        let principal = routed.call.caller().principal();
        let mut calls = self.lock();
        let of_caller = calls.values().filter(|held| held.principal == *principal);
        let of_caller = of_caller.count();
        if calls.len() >= self.limits.held_in_all || of_caller >= self.limits.held_per_caller {
            return None;
        }
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        let id = format!("{:016x}.{number}", self.replica);
        let held = HeldCall {
            principal: principal.clone(),
            since: Instant::now(),
            running: Box::new(running),
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

    /// Number of calls that are held.
    pub(crate) fn count(&self) -> u64 {
        u64::try_from(self.lock().len()).unwrap_or(u64::MAX)
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

/// A call at its server. Dropping it cancels the call.
#[derive(Debug)]
struct RunningCall<T> {
    // First, so that the call has ended before its session is free for the next.
    work: JoinSet<Result<T, Error>>,
    /// Questions that have no answer yet, by their keys.
    open: BTreeMap<String, OpenQuestion>,
    listener: Arc<Listener>,
    lease: SessionLease,
}

/// Next event of a running call.
enum Next<T> {
    Asked,
    Done(Result<T, Error>),
    /// The call panicked.
    Lost,
}

impl<T: UpstreamCall> RunningCall<T> {
    async fn next(&mut self) -> Next<T> {
        let questions = Arc::clone(&self.lease.session.questions);
        let asked = tokio::select! {
            biased;
            done = self.work.join_next() => return match done {
                Some(Ok(done)) => Next::Done(done),
                _ => Next::Lost,
            },
            asked = questions.next() => asked,
        };
        // Others that came with it go to the client together.
        let others = questions.take_waiting().await;
        for question in std::iter::once(asked).chain(others) {
            self.open.insert(question.key.clone(), question);
        }
        Next::Asked
    }

    /// Gives the answers of the client to the server. Questions without a fitting
    /// answer stay open.
    fn answer(&mut self, routed: &RoutedCall) {
        let mut left = BTreeMap::new();
        for (key, question) in std::mem::take(&mut self.open) {
            let unanswered = match routed.call.answers().get(&key) {
                Some(answer) => question.answer(answer),
                None => Some(question),
            };
            if let Some(question) = unanswered {
                left.insert(key, question);
            }
        }
        self.open = left;
    }
}
