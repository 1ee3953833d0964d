//! The loop: poll the handler, look at the facts, make one move.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll, Waker};

use super::decide::{Action, decide};
use super::outcome::{Outcome, Suspended};
use super::{Driver, asked, open_questions, stability};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::journal::Journal;
use crate::key::Key;
use crate::shared::{CountedWaker, Delivery, State};

impl<F, T, E> Driver<'_, F>
where
    F: Future<Output = Result<T, E>> + ?Sized,
{
    /// Goes on until there is nothing to do; `owner` is then woken when there is.
    pub(super) fn run(&mut self, owner: &Waker) -> Poll<Outcome<T, E>> {
        self.at_rest = false;
        for _ in 0..self.shared.engine.settings.polls_per_turn {
            // From here on a wake asks for one more turn of this loop.
            let woken = self.shared.root.take_wake();
            self.write();
            if let Some(error) = self.catch_up() {
                self.ending.stop(error);
            }
            if self.ending.has_begun() {
                if let Poll::Ready(outcome) = self.end() {
                    return Poll::Ready(outcome);
                }
                if self.shared.root.rest(owner) {
                    return Poll::Pending;
                }
            } else if woken {
                self.poll_handler();
            } else {
                match self.act() {
                    Next::GoOn => {}
                    Next::Rest if self.shared.root.rest(owner) => {
                        self.at_rest = true;
                        return Poll::Pending;
                    }
                    Next::Rest => {}
                    Next::Yield => break,
                }
            }
        }
        self.shared.root.come_back(owner);
        Poll::Pending
    }

    /// Fires the timers that are due. Returns the error that stops the run.
    fn catch_up(&self) -> Option<Error> {
        let mut state = self.shared.lock();
        let now = state.now;
        state.fire(now);
        let fatal = state.fatal.take();
        let wakes = std::mem::take(&mut state.wakes);
        drop(state);
        for waker in wakes {
            waker.wake();
        }
        fatal
    }

    fn poll_handler(&mut self) {
        let Some(handler) = &mut self.handler else {
            return;
        };
        self.stability.foreign_before = self.shared.foreign();
        let mut cx = Context::from_waker(&self.waker);
        match catch_unwind(AssertUnwindSafe(|| handler.as_mut().poll(&mut cx))) {
            Ok(Poll::Ready(output)) => self.ending.returned(output),
            Ok(Poll::Pending) => {}
            Err(panic) => self.panicked(&*panic),
        }
    }

    /// The handler is at rest. Makes one move.
    fn act(&mut self) -> Next {
        let mut state = self.shared.lock();
        let facts = self
            .stability
            .facts(&self.shared, &mut state, &self.writing);
        match decide(&facts) {
            Action::Deliver => match state.next_delivery() {
                Some(Delivery::Ready(id, at)) => {
                    let waker = state.deliver(id, at);
                    drop(state);
                    self.event_delivered(waker);
                }
                Some(Delivery::Fetch(id, reference)) => {
                    drop(state);
                    self.fetch(id, reference);
                }
                None => {}
            },
            Action::Start => {
                let waker = state.start_next();
                drop(state);
                self.event_delivered(waker);
            }
            Action::Wait => return Next::Rest,
            Action::Yield => {
                self.stability.count_stall();
                return Next::Yield;
            }
            Action::Suspend if self.shared.round >= self.shared.engine.settings.max_rounds => {
                let rounds = self.shared.engine.settings.max_rounds;
                self.ending.compensate(Error::RoundsExhausted { rounds });
            }
            Action::Suspend => {
                let questions = open_questions(&state);
                let waited = self.stability.grace().is_some();
                self.advise(&mut state, waited);
                let journal = self.take_journal(&mut state);
                self.ending.suspend(Suspended { questions, journal });
            }
            Action::Shed => {
                let journal = self.take_journal(&mut state);
                self.ending.shed(journal);
            }
            Action::Cancel => self.ending.cancel(),
            Action::Stall => self.ending.stop(Error::Stalled),
            Action::StopSleeping => {
                let earliest_sleep = stability::earliest_sleep(&state);
                let key = earliest_sleep.map_or_else(|| Key::new("sleep"), |(key, _)| key);
                self.ending.compensate(Error::SleepTooLong { key });
            }
        }
        Next::GoOn
    }

    fn event_delivered(&mut self, waker: Option<CountedWaker>) {
        self.stability.start_over();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Tells the author what could be better about a suspension.
    fn advise(&self, state: &mut State<'_>, waited: bool) {
        let mut advice = Vec::new();
        if waited {
            let questions = state.open_questions();
            advice.extend(questions.map(|waiter| Diagnostic::ForeignAwait {
                key: waiter.search.key.clone(),
                at: waiter.at,
            }));
        }
        if self.shared.round == 0 {
            let early = std::mem::take(&mut state.effects).into_iter();
            advice.extend(early.map(|(key, at)| Diagnostic::EffectBeforeQuestion { key, at }));
        }
        state.diagnostics.append(&mut advice);
    }

    /// The journal to go on with. Nothing is left of it here.
    fn take_journal(&self, state: &mut State<'_>) -> Journal {
        let asked = asked(state);
        let version = self.shared.engine.settings.version;
        std::mem::take(&mut state.journal).into_journal(version, asked)
    }
}

/// The step of the driver loop after an action.
enum Next {
    GoOn,
    /// Wait to be woken.
    Rest,
    /// Come back soon.
    Yield,
}
