//! Everything that a driver and its handler share.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;

use sterna_types::UnixMillis;

use super::names::Names;
use super::root::CountedWaker;
use super::run_journal::RunJournal;
use super::timers::Timers;
use super::waiter::{Stage, Waiter, WaiterId, Waiters};
use crate::answers::GivenAnswers;
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::idempotency::IdempotencyKey;
use crate::journal::{Entry, Journal, Kind, Limits};
use crate::key::Key;
use crate::key_map::KeyMap;

/// Everything that a driver and its handler share, behind one lock.
#[derive(Default)]
pub(crate) struct State<'a> {
    pub(crate) now: UnixMillis,
    pub(crate) limits: Limits,
    pub(crate) journal: RunJournal,
    pub(super) names: Names,
    pub(crate) waiters: Waiters,
    /// Futures that have an entry and wait to be told, oldest entry first.
    pub(super) queue: BinaryHeap<Reverse<(usize, WaiterId)>>,
    /// Futures that want to begin, in the order in which they asked.
    pub(super) starts: VecDeque<WaiterId>,
    /// Futures that wait for an entry of that name from outside.
    pub(super) waiting: KeyMap<WaiterId>,
    /// The future that was last told or allowed something, until it reacts.
    pub(super) event: Option<WaiterId>,
    pub(crate) running: usize,
    /// Entries that must be durable before they count, with their futures.
    pub(crate) unwritten: VecDeque<(Entry, Option<WaiterId>)>,
    pub(crate) write_ahead: bool,
    pub(super) timers: Timers,
    /// Questions the client may answer.
    pub(crate) asked: KeyMap<Fingerprint>,
    /// Answers that the handler has taken, if there is a ledger.
    pub(crate) given: GivenAnswers,
    /// The step whose body is being polled.
    pub(super) inside: Option<Key>,
    pub(crate) panicked_inside: Option<Key>,
    pub(crate) fatal: Option<Error>,
    /// `true` once the handler is in code that no earlier run has been through.
    pub(crate) fresh: bool,
    pub(crate) closed: bool,
    pub(crate) shed: bool,
    pub(crate) cancelled: bool,
    /// Wakers of the futures that wait for a cancellation.
    pub(crate) cancel_watchers: BTreeMap<u64, CountedWaker>,
    pub(crate) watchers: u64,
    pub(crate) undos: Vec<Undo<'a>>,
    pub(crate) effects: Vec<(Key, &'static Location<'static>)>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Futures that must be polled again, for another reason than being told.
    pub(crate) wakes: Vec<CountedWaker>,
}

impl<'a> State<'a> {
    pub(super) fn begin(&mut self, journal: Journal) {
        let (entries, index, asked) = journal.into_parts();
        // A flow that has asked has been here, even if nothing is recorded.
        self.fresh = entries.is_empty() && asked.is_empty();
        self.journal = RunJournal::new(entries, index);
        self.asked = asked
            .into_iter()
            .map(|asked| (asked.key, asked.fingerprint))
            .collect();
        self.timers.load(&self.journal);
    }

    /// Stops the run. The driver looks here first, so nothing in the handler
    /// can hide it.
    pub(crate) fn fail(&mut self, error: Error) {
        if self.fatal.is_none() {
            self.fatal = Some(error);
        }
    }

    /// Ends the handler's use of its context. Returns the compensations, which
    /// must be dropped without the lock.
    pub(crate) fn close(&mut self) -> Vec<Undo<'a>> {
        self.closed = true;
        std::mem::take(&mut self.undos)
    }

    /// Returns whether the handler may use its context at all.
    pub(super) fn is_usable(&self) -> bool {
        !self.closed && self.fatal.is_none()
    }

    /// Gives a future its name and its slot.
    pub(super) fn construct(
        &mut self,
        scope: Option<&Key>,
        name: &str,
        wants: Kind,
        at: &'static Location<'static>,
    ) -> Result<WaiterId, Error> {
        let key = self.name(scope, name, None)?;
        self.names.begin(&key, at)?;
        Ok(self.waiters.insert(Waiter::new(key, wants, at)))
    }

    pub(crate) fn name(
        &mut self,
        scope: Option<&Key>,
        name: &str,
        mark: Option<char>,
    ) -> Result<Key, Error> {
        let used = self
            .names
            .next(&self.journal, &self.limits, scope, name, mark)?;
        if let Some(step) = self.inside.clone() {
            return Err(Error::CxInsideStep { step, used });
        }
        Ok(used)
    }

    /// Forgets a future that has ended or was dropped.
    pub(super) fn release(&mut self, id: WaiterId) {
        let Some(waiter) = self.waiters.remove(id) else {
            return;
        };
        self.names.end(&waiter.key);
        match waiter.stage {
            Stage::Running => self.running -= 1,
            Stage::Open => drop(self.waiting.remove(waiter.search.key.as_str())),
            _ => {}
        }
        if self.event == Some(id) {
            self.event = None;
        }
        if waiter.lasts.is_some() && !self.closed {
            self.journal.discard(waiter.key.timer().as_str());
        }
    }

    /// Questions that are open now. One whose answer is being written is not.
    pub(crate) fn open_questions(&self) -> impl Iterator<Item = &Waiter> {
        self.waiters
            .iter()
            .filter(|waiter| waiter.stage == Stage::Open && waiter.question.is_some())
            .filter(|waiter| !self.has(&waiter.search.key))
    }

    /// Questions that were put to the client and have no answer.
    pub(crate) fn unanswered(&self) -> BTreeMap<Key, Fingerprint> {
        let has_answer = |key: &Key| {
            let at = self.journal.find(key.as_str());
            at.is_some_and(|at| self.journal.entry(at).kind != Kind::Elapsed)
        };
        self.asked
            .iter()
            .filter(|(key, _)| !has_answer(key))
            .map(|(key, fingerprint)| (key.clone(), *fingerprint))
            .collect()
    }

    /// Returns whether an answer or the clock will wake the handler.
    pub(crate) fn waits_for_outside(&self) -> bool {
        self.waiters
            .iter()
            .any(|waiter| waiter.stage == Stage::Open)
    }
}

/// A compensation that waits for the flow to fail.
pub(crate) struct Undo<'a> {
    pub(crate) key: Key,
    pub(crate) run: Compensation<'a>,
}

pub(crate) type Compensation<'a> = Box<dyn FnOnce(IdempotencyKey) -> Compensating<'a> + Send + 'a>;

pub(crate) type Compensating<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;
