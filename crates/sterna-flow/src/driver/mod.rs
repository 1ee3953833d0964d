//! The driver of a handler: polls it, and decides which event it sees next.

mod decide;
mod ending;
mod outcome;
mod poll;
mod stability;
mod writing;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use sterna_types::UnixMillis;

pub use outcome::{Changes, OpenQuestion, Outcome, Suspended};

use crate::cx::FlowCx;
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::journal::{Asked, Journal};
use crate::key::Key;
use crate::run::{ExecutionMode, Run};
use crate::shared::{Shared, State};

use ending::Ending;
use stability::Stability;
use writing::Writing;

/// Runs one handler. Made by [`Run::drive`](crate::Run::drive), polled by its
/// owner, who also tells it the time: it spawns nothing and waits for nothing
/// by itself.
///
/// *Round trips*: hand in the client's answers, then poll to the outcome.
/// *Legacy* and *task*: poll; whenever that is pending, put the questions that
/// [`changes`](Self::changes) brings to the client and hand in answers as they
/// come. A task may be dropped whenever it [is idle](Self::is_idle) and goes on
/// from its stored entries.
///
/// Dropping a driver drops the handler: steps that have not reached the journal
/// run again in the next run.
#[must_use = "a handler runs when its driver is polled"]
pub struct Driver<'a, F: Future + ?Sized> {
    pub(crate) shared: Arc<Shared<'a>>,
    waker: Waker,
    handler: Option<Pin<Box<F>>>,
    writing: Writing,
    ending: Ending<'a, F::Output>,
    stability: Stability,
    at_rest: bool,
    /// The questions that the client has, as far as the owner knows.
    reported: BTreeMap<Key, Fingerprint>,
}

impl Run {
    /// Hands the handler its [`FlowCx`] and returns the driver that polls it.
    pub fn drive<'a, F, T, E>(
        self,
        handler: impl FnOnce(FlowCx<'a>) -> Pin<Box<F>>,
    ) -> Driver<'a, F>
    where
        F: Future<Output = Result<T, E>> + ?Sized,
    {
        Driver::new(Shared::new(self), handler)
    }
}

impl<'a, F, T, E> Driver<'a, F>
where
    F: Future<Output = Result<T, E>> + ?Sized,
{
    fn new(shared: Arc<Shared<'a>>, handler: impl FnOnce(FlowCx<'a>) -> Pin<Box<F>>) -> Self {
        let waker = Waker::from(shared.root.clone());
        let reported = match shared.mode {
            ExecutionMode::RoundTrips => BTreeMap::new(),
            ExecutionMode::Legacy | ExecutionMode::Task => shared.lock().unanswered(),
        };
        let mut driver = Self {
            writing: Writing::default(),
            waker,
            handler: None,
            ending: Ending::default(),
            stability: Stability::default(),
            at_rest: false,
            reported,
            shared,
        };
        let cx = FlowCx::new(driver.shared.clone());
        match catch_unwind(AssertUnwindSafe(|| handler(cx))) {
            Ok(handler) => driver.handler = Some(handler),
            Err(panic) => driver.panicked(&*panic),
        }
        driver
    }

    /// Lets the handler go on until it waits for something outside.
    ///
    /// Pending means: poll again when woken, or when
    /// [`next_wake`](Self::next_wake) has come, or after handing something in.
    /// Once it has returned an outcome, it stays pending.
    ///
    /// In a task of tokio, poll it inside `tokio::task::unconstrained`. A
    /// `tokio::select!` whose task has used up its budget is pending without
    /// looking at its arms, and a driver can only guess that this is why.
    ///
    /// # Cancel safety
    ///
    /// It is no future; nothing is lost between two calls.
    pub fn poll(&mut self, now: UnixMillis, cx: &mut Context<'_>) -> Poll<Outcome<T, E>> {
        self.shared.lock().now = now;
        self.run(cx.waker())
    }

    /// Hands in the client's answer to the question `key`, which came in at `at`.
    ///
    /// Says whether it counts. It does not if the question was never asked, was
    /// answered, or ran out before `at`; a client may send such answers, and
    /// they are to be ignored. Answers must be handed in in the order of `at`.
    pub fn answer(&mut self, key: &str, answer: impl Into<Bytes>, at: UnixMillis) -> bool {
        self.at_rest = false;
        let counts = self.shared.lock().answer(key, answer.into(), at);
        if counts {
            self.reported.remove(key);
        }
        counts
    }

    /// Time of the next poll if no waker fires before.
    #[must_use]
    pub fn next_wake(&self) -> Option<UnixMillis> {
        let mut state = self.shared.lock();
        // A grace that has run out changes nothing any more.
        let grace = self.stability.grace().filter(|until| *until > state.now);
        match (state.next_timer(), grace) {
            (Some(timer), Some(grace)) => Some(timer.min(grace)),
            (timer, grace) => timer.or(grace),
        }
    }

    /// Changes of the open questions since the last call; at the first call, since
    /// the journal was written.
    pub fn changes(&mut self) -> Changes {
        let mut changes = Changes::default();
        // During a replay, questions open that the client must not see.
        if !self.at_rest {
            return changes;
        }
        let mut state = self.shared.lock();
        let open = open_questions(&state);
        for question in &open {
            state
                .asked
                .insert(question.key.clone(), question.fingerprint);
        }
        drop(state);
        let mut before = std::mem::take(&mut self.reported);
        for question in open {
            let known = before.remove(&question.key);
            self.reported
                .insert(question.key.clone(), question.fingerprint);
            if known != Some(question.fingerprint) {
                changes.opened.push(question);
            }
        }
        changes.withdrawn.extend(before.into_keys());
        changes
    }

    /// Returns whether the handler waits only for answers and the clock. A task may
    /// then be dropped; everything it needs is in its journal.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let state = self.shared.lock();
        let foreign = self.shared.foreign() > 0;
        let patient = self
            .stability
            .grace()
            .is_some_and(|until| state.now < until);
        let busy = stability::is_busy(&state, &self.writing);
        self.at_rest && !busy && state.waits_for_outside() && (!foreign || !patient)
    }

    /// The journal as it is now; empty once it has been handed out.
    #[must_use]
    pub fn journal(&self) -> Journal {
        let state = self.shared.lock();
        let version = self.shared.engine.settings.version;
        state.journal.snapshot(version, asked(&state))
    }

    /// Returns the diagnostics for the author since the last call.
    pub fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.shared.lock().diagnostics)
    }

    /// A handle on the run for observers on other threads.
    #[must_use]
    pub fn remote(&self) -> Remote<'a> {
        Remote::new(&self.shared)
    }

    fn panicked(&mut self, panic: &(dyn std::any::Any + Send)) {
        let step = self.shared.lock().panicked_inside.take();
        let message = ending::panic_message(panic);
        self.ending.compensate(Error::Panicked { step, message });
    }
}

/// Open questions, in order of key.
fn open_questions(state: &State<'_>) -> Vec<OpenQuestion> {
    let mut questions: Vec<OpenQuestion> = state
        .open_questions()
        .filter_map(|waiter| {
            Some(OpenQuestion {
                key: waiter.search.key.clone(),
                fingerprint: waiter.pin?,
                request: waiter.question.clone()?,
                deadline: waiter.lasts.and_then(|_| state.ends_at(&waiter.key)),
                at: waiter.at,
            })
        })
        .collect();
    questions.sort_by(|a, b| a.key.cmp(&b.key));
    questions
}

/// The questions that the client may answer, in order of key.
fn asked(state: &State<'_>) -> Vec<Asked> {
    let mut asked: Vec<Asked> = state
        .open_questions()
        .filter_map(|waiter| {
            Some(Asked {
                key: waiter.search.key.clone(),
                fingerprint: waiter.pin?,
            })
        })
        .collect();
    asked.sort_by(|a, b| a.key.cmp(&b.key));
    asked
}

impl<F: Future + ?Sized> Drop for Driver<'_, F> {
    fn drop(&mut self) {
        if self.ending.is_over() {
            return;
        }
        let undos = self.shared.lock().close();
        self.handler = None;
        // A compensation may hold a context, which holds the list it is in.
        drop(undos);
    }
}

impl<F: Future + ?Sized> fmt::Debug for Driver<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("mode", &self.shared.mode)
            .field("at_rest", &self.at_rest)
            .field("questions", &self.reported.keys())
            .finish_non_exhaustive()
    }
}

/// A handle on a run for other tasks, which may cancel or shed it.
#[derive(Clone)]
pub struct Remote<'a>(Weak<Shared<'a>>);

impl<'a> Remote<'a> {
    pub(super) fn new(shared: &Arc<Shared<'a>>) -> Self {
        Self(Arc::downgrade(shared))
    }

    /// Cancels the flow. The handler may end it in its own way; otherwise it is
    /// dropped as soon as no step runs, and its compensations run.
    pub fn cancel(&self) {
        let Some(shared) = self.0.upgrade() else {
            return;
        };
        let mut state = shared.lock();
        state.cancelled = true;
        let watchers = std::mem::take(&mut state.cancel_watchers);
        drop(state);
        for watcher in watchers.into_values() {
            watcher.wake();
        }
        shared.root.wake_by_ref();
    }

    /// Sheds the flow at its next checkpoint, if it has made progress by then, so
    /// that it continues on another instance.
    pub fn shed(&self) {
        if let Some(shared) = self.0.upgrade() {
            shared.lock().shed = true;
            shared.root.wake_by_ref();
        }
    }
}

impl fmt::Debug for Remote<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Remote")
    }
}
