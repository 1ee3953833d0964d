//! Room for so many of a thing at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::shares::Share;

/// Counting semaphore whose permits are taken at once or refused.
///
/// There is no queue: a refused caller knows at once, and a released permit is
/// there for the next caller in the same moment.
#[derive(Debug)]
pub struct Slots {
    taken: AtomicUsize,
    limit: usize,
}

impl Slots {
    /// A semaphore with `limit` permits.
    #[must_use]
    pub fn new(limit: usize) -> Arc<Self> {
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

    /// Takes `count` permits; `None` if fewer are left.
    #[must_use]
    pub fn take(self: &Arc<Self>, count: usize) -> Option<Slot> {
        let taken = self
            .taken
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| {
                taken.checked_add(count).filter(|sum| *sum <= self.limit)
            });
        taken.ok().map(|_| Slot {
            slots: Arc::clone(self),
            count,
            share: None,
        })
    }
}

/// Room taken; given back when dropped.
#[derive(Debug)]
pub struct Slot {
    slots: Arc<Slots>,
    count: usize,
    /// Kept because dropping it gives the share back.
    share: Option<Share>,
}

impl Slot {
    /// Keeps the caller's `share` for as long as the room is taken.
    pub(super) fn with_share(mut self, share: Option<Share>) -> Self {
        self.share = share;
        self
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
        let one = slots.take(2).unwrap();
        let two = slots.take(1).unwrap();
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
