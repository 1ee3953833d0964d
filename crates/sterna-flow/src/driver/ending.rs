//! The end of a run: let go of the handler, compensate, say how it went.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};

use bytes::Bytes;

use super::Driver;
use super::outcome::{Outcome, Suspended};
use super::stability::is_busy;
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::journal::{Entry, Journal, Kind};
use crate::key::Key;
use crate::shared::{Compensating, State};

/// The ending of a run, in progress.
pub(super) struct Ending<'a, R> {
    termination: Option<Termination<R>>,
    undoing: Option<(Key, Compensating<'a>)>,
    over: bool,
}

enum Termination<R> {
    Cancelled,
    /// Stopped for good, so that nothing will ever go on from here.
    Compensated(Error),
    Returned(R),
    Shed(Journal),
    Stopped(Error),
    Suspended(Suspended),
}

impl<R> Default for Ending<'_, R> {
    fn default() -> Self {
        Self {
            termination: None,
            undoing: None,
            over: false,
        }
    }
}

impl<R> Ending<'_, R> {
    pub(super) const fn has_begun(&self) -> bool {
        self.over || self.termination.is_some()
    }

    /// Returns whether all is done, and the context closed.
    pub(super) const fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn returned(&mut self, output: R) {
        self.set(Termination::Returned(output));
    }

    pub(super) fn suspend(&mut self, suspended: Suspended) {
        self.set(Termination::Suspended(suspended));
    }

    pub(super) fn shed(&mut self, journal: Journal) {
        self.set(Termination::Shed(journal));
    }

    pub(super) fn cancel(&mut self) {
        self.set(Termination::Cancelled);
    }

    pub(super) fn compensate(&mut self, error: Error) {
        self.set(Termination::Compensated(error));
    }

    /// An error of the engine overrules the handler's own result.
    pub(super) fn stop(&mut self, error: Error) {
        self.undoing = None;
        self.termination = Some(Termination::Stopped(error));
    }

    fn set(&mut self, termination: Termination<R>) {
        if !self.has_begun() {
            self.termination = Some(termination);
        }
    }
}

impl<F, T, E> Driver<'_, F>
where
    F: Future<Output = Result<T, E>> + ?Sized,
{
    /// Goes on ending; pending while something must be written or undone.
    pub(super) fn end(&mut self) -> Poll<Outcome<T, E>> {
        let Some(termination) = &self.ending.termination else {
            return Poll::Pending;
        };
        let fails = matches!(
            termination,
            Termination::Cancelled | Termination::Compensated(_) | Termination::Returned(Err(_))
        );
        let writes = fails || matches!(termination, Termination::Returned(_));
        self.let_go_of_handler();
        if fails && self.undo().is_pending() {
            return Poll::Pending;
        }
        if writes {
            self.write();
        }
        let mut state = self.shared.lock();
        if writes && is_busy(&state, &self.writing) {
            return Poll::Pending;
        }
        let outcome = match self.ending.termination.take() {
            None => return Poll::Pending,
            Some(Termination::Cancelled) => Outcome::Cancelled,
            Some(Termination::Compensated(error) | Termination::Stopped(error)) => {
                Outcome::Stopped(error)
            }
            Some(Termination::Returned(Err(error))) => Outcome::Failed(error),
            Some(Termination::Returned(Ok(value))) => {
                report_orphans(&mut state);
                Outcome::Finished(value)
            }
            Some(Termination::Shed(journal)) => Outcome::Shed(journal),
            Some(Termination::Suspended(suspended)) => Outcome::Suspended(suspended),
        };
        self.ending.over = true;
        let undos = state.close();
        drop(state);
        // A compensation may hold a context, which asks for the lock when it goes.
        drop(undos);
        Poll::Ready(outcome)
    }

    /// Drops the handler. Uses of the context in its destructors come too late to
    /// change anything.
    fn let_go_of_handler(&mut self) {
        let Some(handler) = self.handler.take() else {
            return;
        };
        self.shared.lock().closed = true;
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(handler))) {
            let message = panic_message(&*panic);
            let dropped = Diagnostic::DropPanicked { message };
            self.shared.lock().diagnostics.push(dropped);
        }
    }

    /// Runs the compensations, last one first.
    fn undo(&mut self) -> Poll<()> {
        loop {
            let Some((key, undoing)) = &mut self.ending.undoing else {
                if self.begin_undo() {
                    continue;
                }
                return Poll::Ready(());
            };
            let mut cx = Context::from_waker(&self.waker);
            let undone = match catch_unwind(AssertUnwindSafe(|| undoing.as_mut().poll(&mut cx))) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(undone)) => undone,
                Err(panic) => Err(panic_message(&*panic)),
            };
            let key = key.clone();
            self.ending.undoing = None;
            self.undone(key, undone);
        }
    }

    /// Begins the next compensation that has not run, if there is one.
    fn begin_undo(&mut self) -> bool {
        loop {
            let mut state = self.shared.lock();
            let Some(undo) = state.undos.pop() else {
                return false;
            };
            if state.has(&undo.key) {
                continue;
            }
            drop(state);
            let key = self.shared.idempotency_key(&undo.key);
            let run = undo.run;
            match catch_unwind(AssertUnwindSafe(|| run(key))) {
                Ok(undoing) => {
                    self.ending.undoing = Some((undo.key, undoing));
                    return true;
                }
                Err(panic) => self.undone(undo.key, Err(panic_message(&*panic))),
            }
        }
    }

    fn undone(&self, key: Key, undone: Result<(), String>) {
        let mut state = self.shared.lock();
        let mut entry = Entry::new(key.clone(), Kind::Undo, Bytes::new());
        if let Err(message) = undone {
            entry.failed = true;
            state
                .diagnostics
                .push(Diagnostic::UndoFailed { key, message });
        }
        state.record(None, entry);
    }
}

fn report_orphans(state: &mut State<'_>) {
    let orphans = state.journal.orphans().map(|entry| Diagnostic::Orphan {
        key: entry.key.clone(),
        kind: entry.kind,
    });
    state.diagnostics.extend(orphans);
}

/// The message of a panic.
pub(super) fn panic_message(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}
