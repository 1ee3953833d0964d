//! The loop: poll the handler, look at the facts, make one move.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll, Waker};

use super::decide::{Move, decide};
use super::outcome::{Outcome, Suspended};
use super::{Driver, asked, open_questions, watch};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::journal::Journal;
use crate::key::Key;
use crate::shared::{Next, Parked, State};

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
                match self.make_move() {
                    After::GoOn => {}
                    After::Rest if self.shared.root.rest(owner) => {
                        self.at_rest = true;
                        return Poll::Pending;
                    }
                    After::Rest => {}
                    After::Yield => break,
                }
            }
        }
        self.shared.root.come_back(owner);
        Poll::Pending
    }

    /// Lets happen what is due. Returns what stops the run.
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
        self.watch.foreign_before = self.shared.foreign();
        let mut cx = Context::from_waker(&self.waker);
        match catch_unwind(AssertUnwindSafe(|| handler.as_mut().poll(&mut cx))) {
            Ok(Poll::Ready(output)) => self.ending.returned(output),
            Ok(Poll::Pending) => {}
            Err(panic) => self.panicked(&*panic),
        }
    }

    /// The handler is at rest. Makes one move.
    fn make_move(&mut self) -> After {
        let mut state = self.shared.lock();
        let facts = self.watch.facts(&self.shared, &mut state, &self.writing);
        #[cfg(test)]
        let facts = mutants::misjudge(&state, facts);
        match decide(&facts) {
            Move::Tell => match state.next_to_tell() {
                Some(Next::Tell(id, at)) => {
                    let waker = state.tell(id, at);
                    #[cfg(test)]
                    mutants::tell_all(&mut state);
                    drop(state);
                    self.happened(waker);
                }
                Some(Next::Fetch(id, reference)) => {
                    drop(state);
                    self.fetch(id, reference);
                }
                None => {}
            },
            Move::Grant => {
                let waker = state.grant();
                drop(state);
                self.happened(waker);
            }
            Move::Wait => return After::Rest,
            Move::Yield => {
                self.watch.be_patient();
                return After::Yield;
            }
            Move::Suspend if self.shared.round >= self.shared.engine.settings.max_rounds => {
                let rounds = self.shared.engine.settings.max_rounds;
                self.ending.compensate(Error::RoundsExhausted { rounds });
            }
            Move::Suspend => {
                let questions = open_questions(&state);
                let waited = self.watch.grace().is_some();
                self.advise(&mut state, waited);
                let journal = self.take_journal(&mut state);
                self.ending.suspend(Suspended { questions, journal });
            }
            Move::Shed => {
                let journal = self.take_journal(&mut state);
                self.ending.shed(journal);
            }
            Move::Cancel => self.ending.cancel(),
            Move::Stall => self.ending.stop(Error::Stalled),
            Move::StopSleeping => {
                let sleeper = watch::sleeper(&state);
                let key = sleeper.map_or_else(|| Key::new("sleep"), |(key, _)| key);
                self.ending.compensate(Error::SleepTooLong { key });
            }
        }
        After::GoOn
    }

    fn happened(&mut self, waker: Option<Parked>) {
        self.watch.start_over();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Tells the author what could be better about a suspension.
    fn advise(&self, state: &mut State<'_>, waited: bool) {
        let mut advice = Vec::new();
        if waited {
            let questions = state.open_questions();
            advice.extend(questions.map(|leaf| Diagnostic::ForeignAwait {
                key: leaf.search.key.clone(),
                at: leaf.at,
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
        std::mem::take(&mut state.tape).into_journal(version, asked)
    }
}

/// What to do after a move.
enum After {
    GoOn,
    /// Wait to be woken.
    Rest,
    /// Come back soon.
    Yield,
}

#[cfg(test)]
mod mutants {
    use crate::driver::decide::Facts;
    use crate::run::Way;
    use crate::shared::{Next, State};
    use crate::tests::Mutant;

    pub(super) fn misjudge(state: &State<'_>, mut facts: Facts) -> Facts {
        match state.mutant {
            Some(Mutant::NoDrain) => facts.busy &= facts.way != Way::RoundTrips,
            Some(Mutant::NoPatience) => facts.unsettled = false,
            Some(Mutant::StartWhileFetching) if facts.fetching => {
                (facts.fetching, facts.tellable) = (false, false);
            }
            _ => {}
        }
        facts
    }

    pub(super) fn tell_all(state: &mut State<'_>) {
        if state.mutant != Some(Mutant::TellAll) {
            return;
        }
        while let Some(Next::Tell(id, at)) = state.next_to_tell() {
            let waker = state.tell(id, at);
            state.wakes.extend(waker);
        }
    }
}
