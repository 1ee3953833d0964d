//! The loop: poll the handler, look at the facts, make one move.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};

use super::decide::{Facts, Foreign, Move, Sleeping, decide};
use super::outcome::{Outcome, Suspended};
use super::{Driver, open_questions, snapshot};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::journal::Kind;
use crate::key::Key;
use crate::run::Way;
use crate::shared::Next;

impl<F, T, E> Driver<'_, F>
where
    F: Future<Output = Result<T, E>> + ?Sized,
{
    pub(super) fn run(&mut self) -> Poll<Outcome<T, E>> {
        self.at_rest = false;
        for _ in 0..self.shared.engine.settings.polls_per_turn {
            // From here on a wake asks for one more turn of this loop.
            let woken = self.shared.root.take_wake();
            self.write();
            self.wake_others();
            if let Some(error) = self.shared.lock().fatal.take() {
                self.ending.stop(error);
            }
            if self.ending.has_begun() {
                if let Poll::Ready(outcome) = self.end() {
                    return Poll::Ready(outcome);
                }
                if self.shared.root.rest() {
                    return Poll::Pending;
                }
                continue;
            }
            if woken {
                self.poll_handler();
                continue;
            }
            if self.make_move() && self.shared.root.rest() {
                self.at_rest = true;
                return Poll::Pending;
            }
        }
        self.let_others_run();
        Poll::Pending
    }

    fn poll_handler(&mut self) {
        let Some(handler) = &mut self.handler else {
            return;
        };
        self.foreign_before = self.shared.foreign();
        let mut cx = Context::from_waker(&self.waker);
        match catch_unwind(AssertUnwindSafe(|| handler.as_mut().poll(&mut cx))) {
            Ok(Poll::Ready(output)) => self.ending.returned(output),
            Ok(Poll::Pending) => {}
            Err(panic) => self.panicked(&*panic),
        }
    }

    /// The handler is at rest. Makes one move; says whether to wait after it.
    fn make_move(&mut self) -> bool {
        let facts = self.facts();
        #[cfg(test)]
        let facts = self.misjudge(facts);
        match decide(&facts) {
            Move::Tell => self.tell(),
            Move::Grant => self.grant(),
            Move::Wait => return true,
            Move::Yield => {
                self.was_patient = true;
                self.let_others_run();
                return true;
            }
            Move::Suspend => self.suspend(),
            Move::Shed => {
                let journal = snapshot(&self.shared, &self.shared.lock());
                self.ending.shed(journal);
            }
            Move::Cancel => self.ending.cancel(),
            Move::Stall => self.ending.stop(Error::Stalled),
            Move::StopSleeping => {
                let key = self
                    .sleeper()
                    .map_or_else(|| Key::new("sleep"), |(key, _)| key);
                self.ending.compensate(Error::SleepTooLong { key });
            }
        }
        false
    }

    fn facts(&mut self) -> Facts {
        let foreign = self.shared.foreign();
        let sleeping = self.sleeping();
        let shared = self.shared.clone();
        let mut state = shared.lock();
        if self.was_patient {
            state.give_up_on_event();
        }
        let busy = self.is_busy(&state);
        let asking = state.open_questions().next().is_some();
        let now = state.now;
        let waits = asking || sleeping != Sleeping::No;
        let foreign_until = (foreign > 0 && waits && !busy).then(|| {
            *self
                .grace
                .get_or_insert_with(|| now.after(shared.engine.settings.grace))
        });
        self.grace = foreign_until;
        Facts {
            way: shared.way,
            unsettled: !self.was_patient
                && (state.has_unanswered_event() || foreign > self.foreign_before),
            fetching: self.writing.is_fetching(),
            tellable: state.next_to_tell().is_some(),
            startable: state.wants_start(),
            busy,
            asking,
            sleeping,
            foreign: match foreign_until {
                Some(until) if now < until => Foreign::InGrace,
                Some(_) => Foreign::Overdue,
                None if foreign > 0 || !state.cancel_watchers.is_empty() => Foreign::Overdue,
                None => Foreign::No,
            },
            cancel: state.cancelled,
            shed: state.shed && state.tape.has_grown() && state.is_at_checkpoint(),
        }
    }

    fn sleeping(&self) -> Sleeping {
        let now = self.shared.lock().now;
        let longest = self.shared.engine.settings.max_inline_sleep;
        match self.sleeper() {
            None => Sleeping::No,
            Some((_, ends)) if now.until(ends) > longest => Sleeping::TooLong,
            Some(_) => Sleeping::Shortly,
        }
    }

    /// The sleep that ends first.
    fn sleeper(&self) -> Option<(Key, crate::time::UnixMillis)> {
        let state = self.shared.lock();
        state
            .leaves
            .iter()
            .filter(|leaf| leaf.wants == Kind::Elapsed)
            .filter_map(|leaf| Some((leaf.key.clone(), state.ends_at(&leaf.key)?)))
            .min_by_key(|(_, ends)| *ends)
    }

    fn tell(&mut self) {
        let mut state = self.shared.lock();
        let waker = match state.next_to_tell() {
            Some(Next::Fetch(id, reference)) => {
                drop(state);
                self.fetch(id, reference);
                return;
            }
            Some(Next::Tell(id, at)) => state.tell(id, at),
            None => None,
        };
        drop(state);
        self.happened(waker);
        #[cfg(test)]
        self.tell_all();
    }

    fn grant(&mut self) {
        let waker = self.shared.lock().grant();
        self.happened(waker);
    }

    fn happened(&mut self, waker: Option<crate::shared::Parked>) {
        self.was_patient = false;
        self.grace = None;
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn suspend(&mut self) {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        let questions = open_questions(&state);
        if shared.round >= shared.engine.settings.max_rounds {
            let rounds = shared.engine.settings.max_rounds;
            self.ending.compensate(Error::RoundsExhausted { rounds });
            return;
        }
        if self.grace.is_some() {
            let waited = questions.iter().map(|question| Diagnostic::ForeignAwait {
                key: question.key.clone(),
                at: question.at,
            });
            state.diagnostics.extend(waited);
        }
        if shared.round == 0 && shared.way == Way::RoundTrips {
            let early = std::mem::take(&mut state.effects)
                .into_iter()
                .map(|(key, at)| Diagnostic::EffectBeforeQuestion { key, at });
            state.diagnostics.extend(early);
        }
        let journal = snapshot(&shared, &state);
        self.ending.suspend(Suspended { questions, journal });
    }

    pub(super) fn wake_others(&self) {
        let wakes = std::mem::take(&mut self.shared.lock().wakes);
        for waker in wakes {
            waker.wake();
        }
    }

    /// Comes back soon, and polls the handler then.
    fn let_others_run(&self) {
        self.shared.root.rest();
        std::task::Wake::wake_by_ref(&self.shared.root);
    }
}

#[cfg(test)]
mod mutants {
    use super::{Driver, Facts, Future, Next, Way};
    use crate::tests::Mutant;

    impl<F, T, E> Driver<'_, F>
    where
        F: Future<Output = Result<T, E>> + ?Sized,
    {
        pub(super) fn misjudge(&self, mut facts: Facts) -> Facts {
            match self.shared.lock().mutant {
                Some(Mutant::NoDrain) => facts.busy &= facts.way != Way::RoundTrips,
                Some(Mutant::NoPatience) => facts.unsettled = false,
                Some(Mutant::StartWhileFetching) if facts.fetching => {
                    (facts.fetching, facts.tellable) = (false, false);
                }
                _ => {}
            }
            facts
        }

        pub(super) fn tell_all(&self) {
            let mut state = self.shared.lock();
            if state.mutant != Some(Mutant::TellAll) {
                return;
            }
            while let Some(Next::Tell(id, at)) = state.next_to_tell() {
                let waker = state.tell(id, at);
                state.wakes.extend(waker);
            }
        }
    }
}
