//! The futures of a handler that the engine knows, one slot each.

use std::panic::Location;
use std::time::Duration;

use bytes::Bytes;

use super::root::CountedWaker;
use crate::fingerprint::Fingerprint;
use crate::journal::Kind;
use crate::key::Key;

/// An unfinished future of the handler, as the engine knows it.
pub(crate) struct Waiter {
    /// The name it goes by, taken when it was constructed.
    pub(crate) key: Key,
    /// The kind of entry it waits for.
    pub(crate) wants: Kind,
    pub(crate) at: &'static Location<'static>,
    pub(crate) stage: Stage,
    pub(crate) waker: Option<CountedWaker>,
    /// The question or input that an entry must have been recorded for.
    pub(crate) pin: Option<Fingerprint>,
    pub(crate) changed: Changed,
    /// A name under which older builds recorded the same thing.
    pub(crate) alias: Option<Key>,
    pub(crate) search: Search,
    /// `true` if the client was shown the question in other words.
    pub(crate) reworded: bool,
    /// The reason the last answer did not fit.
    pub(crate) reason: Option<String>,
    pub(crate) question: Option<Bytes>,
    /// Duration of a sleep or of a question with a deadline.
    pub(crate) lasts: Option<Duration>,
    /// A blob that was fetched for it.
    pub(crate) fetched: Option<Bytes>,
}

impl Waiter {
    pub(crate) fn new(key: Key, wants: Kind, at: &'static Location<'static>) -> Self {
        Self {
            search: Search::new(&key),
            key,
            wants,
            at,
            stage: Stage::New,
            waker: None,
            pin: None,
            changed: Changed::Fail,
            alias: None,
            reworded: false,
            reason: None,
            question: None,
            lasts: None,
            fetched: None,
        }
    }
}

/// The progress of a [`Waiter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Not polled, or sent back to look again.
    New,
    /// Has an entry and waits for its turn to be told.
    Queued(usize),
    /// Has been told which entry is its own, and may take it.
    Told(usize),
    /// Was told but is not being polled; must queue again.
    Missed(usize),
    /// Has taken its entry.
    Taken(usize),
    /// A question that must be put into words.
    Unasked,
    /// A question that is open, or a sleep.
    Open,
    /// Wants to begin and waits for its turn.
    Parked,
    /// May begin.
    Granted,
    /// Was allowed to begin but is not being polled; must queue again.
    Skipped,
    /// Runs.
    Running,
    /// Has ended; its entry is on its way into the journal.
    Recorded,
}

/// Which of the names that an entry may have is looked for next.
pub(crate) struct Search {
    generation: u32,
    /// The name in that generation.
    pub(crate) key: Key,
}

impl Search {
    pub(crate) fn new(name: &Key) -> Self {
        Self {
            key: name.clone(),
            generation: 1,
        }
    }

    pub(crate) fn advance(&mut self, name: &Key) {
        self.go_to(self.generation + 1, name);
    }

    /// Goes on to `generation`, if that is ahead.
    pub(crate) fn go_to(&mut self, generation: u32, name: &Key) {
        if generation > self.generation {
            self.generation = generation;
            self.key = name.generation(generation);
        }
    }
}

/// The treatment of a finished step whose input has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Changed {
    /// Stop with [`Error::InputChanged`](crate::Error::InputChanged).
    Fail,
    /// Run the step again, with the input of today.
    Rerun,
    /// Keep the result of then.
    Reuse,
}

/// The unfinished futures of a run. An id is good for one future only.
#[derive(Default)]
pub(crate) struct Waiters {
    slots: Vec<(u32, Slot)>,
    /// The first of the slots that are free; each knows the next.
    free: Option<u32>,
}

#[expect(
    clippy::large_enum_variant,
    reason = "a box would be an allocation for each future, to save room in few"
)]
enum Slot {
    Free(Option<u32>),
    Used(Waiter),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WaiterId {
    slot: u32,
    use_count: u32,
}

impl Waiters {
    pub(crate) fn insert(&mut self, waiter: Waiter) -> WaiterId {
        let free = self
            .free
            .and_then(|slot| Some((slot, self.slots.get_mut(slot as usize)?)));
        if let Some((slot, (use_count, place))) = free {
            let was = std::mem::replace(place, Slot::Used(waiter));
            let use_count = *use_count;
            self.free = match was {
                Slot::Free(next) => next,
                Slot::Used(_) => None,
            };
            return WaiterId { slot, use_count };
        }
        if self.slots.is_empty() {
            // Most handlers wait for one thing at a time.
            self.slots.reserve_exact(1);
        }
        let slot = u32::try_from(self.slots.len());
        let slot = slot.expect("memory ends before 4 billion futures");
        self.slots.push((0, Slot::Used(waiter)));
        WaiterId { slot, use_count: 0 }
    }

    pub(crate) fn get(&self, id: WaiterId) -> Option<&Waiter> {
        match self.slots.get(id.slot as usize)? {
            (use_count, Slot::Used(waiter)) if *use_count == id.use_count => Some(waiter),
            _ => None,
        }
    }

    pub(crate) fn get_mut(&mut self, id: WaiterId) -> Option<&mut Waiter> {
        match self.slots.get_mut(id.slot as usize)? {
            (use_count, Slot::Used(waiter)) if *use_count == id.use_count => Some(waiter),
            _ => None,
        }
    }

    pub(crate) fn remove(&mut self, id: WaiterId) -> Option<Waiter> {
        self.get(id)?;
        let (use_count, place) = &mut self.slots[id.slot as usize];
        *use_count = use_count.wrapping_add(1);
        let was = std::mem::replace(place, Slot::Free(self.free));
        self.free = Some(id.slot);
        match was {
            Slot::Used(waiter) => Some(waiter),
            Slot::Free(_) => None,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiter> {
        self.slots.iter().filter_map(|(_, slot)| match slot {
            Slot::Used(waiter) => Some(waiter),
            Slot::Free(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Limits;
    use crate::shared::names::Names;
    use crate::shared::run_journal::RunJournal;

    #[test]
    fn an_id_is_good_for_one_future_only() {
        let (mut names, run_journal, limits) =
            (Names::default(), RunJournal::default(), Limits::default());
        let mut waiter = || {
            let name = names
                .next(&run_journal, &limits, None, "plan", None)
                .unwrap();
            Waiter::new(name, Kind::Step, Location::caller())
        };
        let mut waiters = Waiters::default();
        let first = waiters.insert(waiter());
        assert!(waiters.remove(first).is_some());
        let second = waiters.insert(waiter());
        assert_eq!(first.slot, second.slot, "places are used again");
        assert!(waiters.get(first).is_none());
        assert!(waiters.get_mut(first).is_none());
        assert!(waiters.remove(first).is_none());
        assert_eq!(waiters.get(second).unwrap().key.as_str(), "plan#2");
    }
}
