//! The memory that peers may make the server hold, as one budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

use super::config::Limits;

/// The bytes that all peers together may make the server hold.
///
/// Request bodies, parsed arguments, events that wait for their reader,
/// answers that have not been written yet and the filters of listeners are
/// charged to it. Each charge is a [`Reservation`], which gives its bytes back when it
/// is dropped.
///
/// Bytes that a peer can make the server hold for minutes have a part of their
/// own: requests half, because a body may come slowly and a call may wait for an
/// answer, and subscriptions a quarter. So the two together never keep small
/// calls out. Answers may use all that is left; a peer that does not read them
/// is cut off.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    held: AtomicUsize,
    /// The part of `held` that requests hold.
    requests: AtomicUsize,
    /// The part of `held` that subscriptions hold.
    subscriptions: AtomicUsize,
}

impl Budget {
    /// An empty budget of `limits.buffered_bytes`.
    #[must_use]
    pub fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            held: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
            subscriptions: AtomicUsize::new(0),
        })
    }

    /// The limits that the budget was made with.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Returns whether so little is left that no further call should begin: the rest
    /// is for the answers of those that run.
    pub(super) fn is_scarce(&self) -> bool {
        let limit = self.limits.buffered_bytes;
        self.held() > limit - limit / 4
    }

    /// The most that one request may hold.
    pub(super) fn largest_request(&self) -> usize {
        let limits = &self.limits;
        limits.parsed_bytes.min(limits.buffered_bytes / 2)
    }

    /// Charges `bytes` to `part`; `None` if there is no room for them.
    pub fn take(self: &Arc<Self>, part: Part, bytes: usize) -> Option<Reservation> {
        let mut reservation = Reservation {
            budget: Arc::clone(self),
            bytes: 0,
            part,
        };
        reservation.grow(bytes)?;
        Some(reservation)
    }

    fn charge(&self, bytes: usize, part: Part) -> Option<()> {
        let limit = self.limits.buffered_bytes;
        add(&self.held, bytes, limit)?;
        let within = match part {
            Part::Answers => Some(()),
            Part::Requests => add(&self.requests, bytes, limit / 2),
            Part::Subscriptions => add(&self.subscriptions, bytes, limit / 4),
        };
        if within.is_none() {
            self.held.fetch_sub(bytes, Ordering::AcqRel);
        }
        within
    }

    fn release(&self, bytes: usize, part: Part) {
        self.held.fetch_sub(bytes, Ordering::AcqRel);
        let within = match part {
            Part::Answers => return,
            Part::Requests => &self.requests,
            Part::Subscriptions => &self.subscriptions,
        };
        within.fetch_sub(bytes, Ordering::AcqRel);
    }
}

fn add(count: &AtomicUsize, bytes: usize, limit: usize) -> Option<()> {
    let add = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= limit);
    let added = count.fetch_update(Ordering::AcqRel, Ordering::Acquire, add);
    added.ok().map(drop)
}

/// The part of a [`Budget`] that bytes are charged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Responses and events that the peer has not read.
    Answers,
    /// Bodies and what they are parsed to.
    Requests,
    /// Filters of listeners, and events that wait for them.
    Subscriptions,
}

/// Bytes that are charged to a [`Budget`] until this is dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    bytes: usize,
    part: Part,
}

impl Reservation {
    /// Charges `bytes` more, or leaves everything as it is.
    pub fn grow(&mut self, bytes: usize) -> Option<()> {
        self.budget.charge(bytes, self.part)?;
        self.bytes += bytes;
        Some(())
    }

    /// Gives `bytes` back, or all if there are fewer.
    pub fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.budget.release(bytes, self.part);
    }

    /// Ties the charge to `bytes`: it ends when the last part of them is
    /// dropped, wherever in the HTTP library that is.
    pub(super) fn keep_for<T: Send + 'static>(self, bytes: Bytes, with: T) -> Bytes {
        Bytes::from_owner(HeldBytes {
            bytes,
            _hold: self,
            _with: with,
        })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.release(self.bytes, self.part);
    }
}

struct HeldBytes<T> {
    bytes: Bytes,
    _hold: Reservation,
    _with: T,
}

impl<T> AsRef<[u8]> for HeldBytes<T> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(bytes: usize) -> Arc<Budget> {
        let limits = Limits {
            buffered_bytes: bytes,
            ..Limits::default()
        };
        Budget::new(limits)
    }

    #[test]
    fn bytes_are_refused_when_all_are_held_and_there_again_when_given_back() {
        let budget = budget(100);
        let mut one = budget.take(Part::Answers, 60).unwrap();
        let two = budget.take(Part::Answers, 30).unwrap();
        assert!(one.grow(11).is_none());
        assert!(one.grow(10).is_some());
        assert!(budget.take(Part::Answers, 1).is_none());
        one.shrink(20);
        assert_eq!(budget.held(), 80);
        assert!(budget.is_scarce());
        drop(one);
        assert_eq!(budget.held(), 30);
        assert!(!budget.is_scarce());
        drop(two);
        assert!(budget.take(Part::Answers, 101).is_none());
        assert!(budget.take(Part::Answers, usize::MAX).is_none());
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn what_lasts_has_its_part_and_never_keeps_small_calls_out() {
        let budget = budget(100);
        let mut listener = budget.take(Part::Subscriptions, 20).unwrap();
        assert!(listener.grow(6).is_none());
        assert!(budget.take(Part::Subscriptions, 6).is_none());
        assert!(listener.grow(5).is_some());
        let call = budget.take(Part::Requests, 50).unwrap();
        assert!(budget.take(Part::Requests, 1).is_none());
        assert!(!budget.is_scarce());
        let answer = budget.take(Part::Answers, 25).unwrap();
        assert!(budget.is_scarce());
        assert!(budget.take(Part::Answers, 1).is_none());
        listener.shrink(usize::MAX);
        drop(answer);
        assert_eq!(budget.held(), 50);
        drop(call);
        assert!(budget.take(Part::Subscriptions, 25).is_some());
    }

    #[test]
    fn a_charge_lasts_as_long_as_the_last_piece_of_its_bytes() {
        let budget = budget(100);
        let hold = budget.take(Part::Answers, 10).unwrap();
        let mut bytes = hold.keep_for(Bytes::from_static(b"0123456789"), ());
        let piece = bytes.split_to(3);
        drop(bytes);
        assert_eq!((&*piece, budget.held()), (&b"012"[..], 10));
        drop(piece);
        assert_eq!(budget.held(), 0);
    }
}
