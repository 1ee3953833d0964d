//! Wakers of the handler: whether it was woken, and how many wakers are left.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Wake, Waker};

/// The waker that a handler is polled with.
///
/// It tells a wake inside a poll (poll again) from one outside (wake the owner
/// of the driver), and its reference count tells whether anything besides the
/// engine could still wake the handler.
pub(crate) struct Root {
    state: AtomicU8,
    owner: Mutex<Option<Waker>>,
    /// Number of clones that the engine keeps; made when it keeps the first.
    held: OnceLock<Arc<AtomicUsize>>,
}

impl Root {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: AtomicU8::new(WOKEN),
            owner: Mutex::new(None),
            held: OnceLock::new(),
        })
    }

    /// Wakes `owner` from here on.
    fn adopt(&self, owner: &Waker) {
        let mut slot = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        if !slot.as_ref().is_some_and(|known| known.will_wake(owner)) {
            *slot = Some(owner.clone());
        }
    }

    /// Returns whether the handler was woken since the last call. Later wakes are
    /// noticed by the poll that is under way.
    pub(crate) fn take_wake(&self) -> bool {
        self.state.swap(POLLING, Ordering::AcqRel) == WOKEN
    }

    /// Ends a poll, so that the next wake goes to `owner`. Fails if one came in
    /// already.
    ///
    /// A run that ends in its first poll never rests, and keeps no waker.
    pub(crate) fn rest(&self, owner: &Waker) -> bool {
        self.adopt(owner);
        self.state
            .compare_exchange(POLLING, RESTING, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Ends a poll although there is more to do: others may run, and then
    /// `owner` polls again, and the handler as well.
    pub(crate) fn come_back(&self, owner: &Waker) {
        self.state.store(WOKEN, Ordering::Release);
        owner.wake_by_ref();
    }

    fn wake_owner(&self) {
        let owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(owner) = &*owner {
            owner.wake_by_ref();
        }
    }

    /// Number of wakers of the handler that belong to something outside the engine: a
    /// bare timer, a socket, a channel, a set of futures.
    pub(crate) fn foreign(self: &Arc<Self>) -> usize {
        let clones = Arc::strong_count(self);
        // A thread that dropped its clone after a wake has made that wake visible.
        fence(Ordering::Acquire);
        clones.saturating_sub(OWN + self.held())
    }

    fn held(&self) -> usize {
        let held = self.held.get();
        held.map_or(0, |held| held.load(Ordering::Relaxed))
    }
}

impl Wake for Root {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(WOKEN, Ordering::AcqRel) == RESTING {
            self.wake_owner();
        }
    }
}

/// A waker that the engine keeps, and counts if it is the handler's own.
pub(crate) struct CountedWaker {
    waker: Waker,
    tally: Option<Arc<AtomicUsize>>,
}

impl CountedWaker {
    pub(crate) fn new(root: &Arc<Root>, waker: &Waker) -> Self {
        let ours = std::ptr::eq(waker.data(), Arc::as_ptr(root).cast());
        let tally = ours.then(|| root.held.get_or_init(Arc::default).clone());
        let waker = waker.clone();
        if let Some(tally) = &tally {
            tally.fetch_add(1, Ordering::Relaxed);
        }
        Self { waker, tally }
    }

    pub(crate) fn will_wake(&self, other: &Waker) -> bool {
        self.waker.will_wake(other)
    }

    pub(crate) fn wake(&self) {
        self.waker.wake_by_ref();
    }
}

impl Drop for CountedWaker {
    fn drop(&mut self) {
        if let Some(tally) = &self.tally {
            tally.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// The waker that a step's body is polled with.
///
/// It passes wakes on. What a body waits for thus holds clones of this one, and
/// is never mistaken for an await beside the steps.
pub(crate) struct StepWaker(Mutex<CountedWaker>);

impl StepWaker {
    pub(crate) fn new(root: &Arc<Root>, waker: &Waker) -> Arc<Self> {
        Arc::new(Self(Mutex::new(CountedWaker::new(root, waker))))
    }

    /// Passes wakes on to `waker` from here on.
    pub(crate) fn redirect(&self, root: &Arc<Root>, waker: &Waker) {
        let mut parked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !parked.will_wake(waker) {
            *parked = CountedWaker::new(root, waker);
        }
    }
}

impl Wake for StepWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).wake();
    }
}

const RESTING: u8 = 0;
const POLLING: u8 = 1;
const WOKEN: u8 = 2;
/// The clones that driver and handler share.
const OWN: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    struct Owner(AtomicUsize);

    impl Wake for Owner {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_wake_inside_a_poll_stays_inside_and_one_outside_reaches_the_owner() {
        let owner = Arc::new(Owner(AtomicUsize::new(0)));
        let waker = Waker::from(owner.clone());
        let root = Root::new();
        assert!(root.take_wake(), "the first poll is due at once");

        root.wake_by_ref();
        assert!(!root.rest(&waker), "a wake during the poll is not lost");
        assert_eq!(owner.0.load(Ordering::Relaxed), 0);

        assert!(root.take_wake());
        assert!(root.rest(&waker));
        root.wake_by_ref();
        root.wake_by_ref();
        assert_eq!(owner.0.load(Ordering::Relaxed), 1);

        assert!(root.take_wake());
        root.wake_by_ref();
        root.come_back(&waker);
        assert_eq!(owner.0.load(Ordering::Relaxed), 2);
        assert!(root.take_wake());
    }

    #[test]
    fn only_clones_outside_the_engine_are_foreign() {
        let root = Root::new();
        let waker = Waker::from(root.clone());
        assert_eq!(root.foreign(), 0);
        let parked = CountedWaker::new(&root, &waker);
        let relay = StepWaker::new(&root, &waker);
        let body = Waker::from(relay.clone());
        assert_eq!(root.foreign(), 0);
        let socket = Some(waker.clone());
        assert_eq!(root.foreign(), 1);
        drop((parked, relay, body));
        assert_eq!(root.foreign(), 1);
        drop(socket);
        assert_eq!(root.foreign(), 0);
        let of_another_task = CountedWaker::new(&root, Waker::noop());
        assert_eq!(root.held(), 0);
        drop((of_another_task, waker));
    }

    #[test]
    fn a_body_wakes_the_task_that_polled_it_last() {
        let owners = [(); 2].map(|()| Arc::new(Owner(AtomicUsize::new(0))));
        let [first, last] = owners.clone().map(Waker::from);
        let root = Root::new();
        let parked = CountedWaker::new(&root, &first);
        assert!(parked.will_wake(&first));
        assert!(!parked.will_wake(&last));

        let relay = StepWaker::new(&root, &first);
        let body = Waker::from(relay.clone());
        relay.redirect(&root, &first);
        body.wake_by_ref();
        relay.redirect(&root, &last);
        body.wake_by_ref();
        body.wake();
        let woken = owners.map(|owner| owner.0.load(Ordering::Relaxed));
        assert_eq!(woken, [1, 2]);
    }
}
