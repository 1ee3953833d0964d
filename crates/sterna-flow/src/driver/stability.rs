//! The state of a handler that is pending, as the driver sees it.

use sterna_types::UnixMillis;

use super::decide::{Facts, Foreign, Sleeping};
use super::writing::Writing;
use crate::journal::Kind;
use crate::key::Key;
use crate::shared::{Shared, State};

/// The driver's memory between two looks at its handler.
#[derive(Default)]
pub(super) struct Stability {
    /// Foreign wakers before the last poll of the handler.
    pub(super) foreign_before: usize,
    /// Number of extra polls that the handler got to react to the last event.
    patience: u32,
    /// End of the time that a suspension waits for futures outside the engine.
    grace: Option<UnixMillis>,
}

impl Stability {
    /// Something has happened, to which the handler may react in its own time.
    pub(super) const fn start_over(&mut self) {
        self.patience = 0;
        self.grace = None;
    }

    /// The handler gets another chance.
    pub(super) const fn count_stall(&mut self) {
        self.patience += 1;
    }

    /// When the grace runs out, if one has been granted.
    pub(super) const fn grace(&self) -> Option<UnixMillis> {
        self.grace
    }

    pub(super) fn facts(
        &mut self,
        shared: &Shared<'_>,
        state: &mut State<'_>,
        writing: &Writing,
    ) -> Facts {
        let foreign = shared.foreign();
        let held_up = foreign > self.foreign_before && self.patience < MOST_PATIENCE;
        let ignored = state.has_unanswered_event() && self.patience < PATIENCE;
        if !held_up && !ignored {
            state.give_up_on_event();
        }
        let busy = is_busy(state, writing);
        let asking = state.open_questions().next().is_some();
        let sleeping = sleeping(shared, state);
        let waits = !busy && (asking || sleeping != Sleeping::No);
        Facts {
            mode: shared.mode,
            unsettled: held_up || ignored,
            fetching: writing.is_fetching(),
            deliverable: state.next_delivery().is_some(),
            startable: state.wants_start(),
            busy,
            asking,
            sleeping,
            foreign: self.foreign(foreign > 0, waits, shared, state),
            cancel: state.cancelled,
            shed: state.shed && state.journal.has_grown() && state.is_at_checkpoint(),
        }
    }

    /// The state of the futures outside the engine, within the grace period.
    fn foreign(
        &mut self,
        foreign: bool,
        waits: bool,
        shared: &Shared<'_>,
        state: &State<'_>,
    ) -> Foreign {
        if !foreign || !waits {
            self.grace = None;
            return match foreign || !state.cancel_watchers.is_empty() {
                true => Foreign::Overdue,
                false => Foreign::No,
            };
        }
        let grace = shared.engine.settings.grace;
        let until = *self.grace.get_or_insert_with(|| state.now + grace);
        match state.now < until {
            true => Foreign::InGrace,
            false => Foreign::Overdue,
        }
    }
}

/// Number of polls of a future that does not react before it counts as abandoned,
/// such as a question that was begun and left for later.
const PATIENCE: u32 = 3;
/// The same when something holds the handler up that will let it go on soon,
/// such as a spent budget of its runtime.
const MOST_PATIENCE: u32 = 1000;

pub(super) fn is_busy(state: &State<'_>, writing: &Writing) -> bool {
    state.running > 0 || !state.unwritten.is_empty() || writing.is_busy()
}

fn sleeping(shared: &Shared<'_>, state: &State<'_>) -> Sleeping {
    let longest = shared.engine.settings.max_inline_sleep;
    match earliest_sleep(state) {
        None => Sleeping::No,
        Some((_, ends)) if ends - state.now > longest => Sleeping::TooLong,
        Some(_) => Sleeping::Shortly,
    }
}

/// The sleep that ends first.
pub(super) fn earliest_sleep(state: &State<'_>) -> Option<(Key, UnixMillis)> {
    state
        .waiters
        .iter()
        .filter(|waiter| waiter.wants == Kind::Elapsed)
        .filter_map(|waiter| Some((waiter.key.clone(), state.ends_at(&waiter.key)?)))
        .min_by_key(|(_, ends)| *ends)
}

#[cfg(test)]
mod tests {
    use std::panic::Location;
    use std::sync::Arc;
    use std::task::Waker;

    use bytes::Bytes;

    use super::*;
    use crate::engine::Engine;
    use crate::journal::Entry;
    use crate::run::Run;
    use crate::shared::waiter::Waiter;
    use crate::tests::sha256;
    use sterna_types::FlowId;

    /// A run whose handler has been polled, and the waker it was polled with.
    fn run() -> (Arc<Shared<'static>>, Waker) {
        let engine = Arc::new(Engine::new(sha256));
        let shared = Shared::new(Run::new(engine, FlowId::from_bytes([7; 16])));
        let waker = Waker::from(shared.root.clone());
        (shared, waker)
    }

    fn look(stability: &mut Stability, shared: &Shared<'_>) -> Facts {
        stability.facts(shared, &mut shared.lock(), &Writing::default())
    }

    /// Tells a future of a step something to which it does not react.
    fn tell_a_future(state: &mut State<'_>) {
        let name = state.name(None, "plan", None).unwrap();
        let waiter = Waiter::new(name, Kind::Step, Location::caller());
        let id = state.waiters.insert(waiter);
        state.deliver(id, 0);
    }

    #[test]
    fn a_handler_that_does_not_react_is_polled_a_few_times_more() {
        let (shared, _waker) = run();
        tell_a_future(&mut shared.lock());
        let mut stability = Stability::default();
        for _ in 0..PATIENCE {
            assert!(look(&mut stability, &shared).unsettled);
            assert!(shared.lock().has_unanswered_event());
            stability.count_stall();
        }
        assert!(!look(&mut stability, &shared).unsettled);
        assert!(!shared.lock().has_unanswered_event());

        tell_a_future(&mut shared.lock());
        stability.start_over();
        assert!(look(&mut stability, &shared).unsettled, "another event");
    }

    #[test]
    fn a_handler_that_is_held_up_is_polled_many_times_more() {
        let (shared, waker) = run();
        tell_a_future(&mut shared.lock());
        let mut stability = Stability::default();
        let runtime = waker.clone();
        for _ in 0..MOST_PATIENCE {
            assert!(look(&mut stability, &shared).unsettled);
            assert!(shared.lock().has_unanswered_event());
            stability.count_stall();
        }
        assert!(!look(&mut stability, &shared).unsettled);
        assert!(!shared.lock().has_unanswered_event());

        // What had its waker before that poll holds nothing up.
        stability.start_over();
        stability.foreign_before = 1;
        assert!(!look(&mut stability, &shared).unsettled);
        drop((runtime, waker));
    }

    #[test]
    fn what_else_may_wake_the_handler_gets_a_grace_only_beside_a_question_or_a_sleep() {
        let (shared, waker) = run();
        let mut stability = Stability::default();
        assert_eq!(look(&mut stability, &shared).foreign, Foreign::No);
        let socket = waker.clone();
        assert_eq!(look(&mut stability, &shared).foreign, Foreign::Overdue);
        assert_eq!(stability.grace(), None);
        drop((socket, waker));
    }

    #[test]
    fn entries_that_are_not_written_yet_keep_a_run_busy() {
        let (shared, _waker) = run();
        let mut state = shared.lock();
        assert!(!is_busy(&state, &Writing::default()));
        let entry = Entry::new(Key::new("plan"), Kind::Step, Bytes::new());
        state.unwritten.push_back((entry, None));
        assert!(is_busy(&state, &Writing::default()));
    }
}
