//! Room for so many of a thing at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Room for so many; taken without waiting, or not at all.
///
/// Nobody queues: whoever is refused knows at once, and the room that one call
/// leaves is there for the next in the same moment.
#[derive(Debug)]
pub(super) struct Slots {
    taken: AtomicUsize,
    limit: usize,
}

impl Slots {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            taken: AtomicUsize::new(0),
            limit,
        })
    }

    pub(super) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    pub(super) fn is_full(&self) -> bool {
        self.taken() >= self.limit
    }

    pub(super) fn take(self: &Arc<Self>, count: usize) -> Option<Slot> {
        let taken = self
            .taken
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| {
                taken.checked_add(count).filter(|sum| *sum <= self.limit)
            });
        taken.ok().map(|_| Slot {
            slots: Arc::clone(self),
            count,
        })
    }
}

/// Room taken; given back when dropped.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Arc<Slots>,
    count: usize,
}

impl Slot {
    /// Takes `count` more, or leaves everything as it is.
    pub(super) fn grow(&mut self, count: usize) -> Option<()> {
        let mut more = self.slots.take(count)?;
        self.count += std::mem::take(&mut more.count);
        Some(())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.taken.fetch_sub(self.count, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_refused_when_full_and_there_again_when_given_back() {
        let slots = Slots::new(3);
        let mut one = slots.take(1).unwrap();
        let two = slots.take(1).unwrap();
        assert!(one.grow(2).is_none());
        assert!(one.grow(1).is_some());
        assert!(slots.is_full());
        assert!(slots.take(1).is_none());
        drop(one);
        assert_eq!(slots.taken(), 1);
        drop(two);
        assert_eq!(slots.taken(), 0);
        assert!(slots.take(4).is_none());
        assert!(slots.take(usize::MAX).is_none());
    }
}
