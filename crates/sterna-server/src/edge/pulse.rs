//! How a connection is doing: whether it waits for us, we for it, or nobody.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use http::Version;

use super::clock;
use super::config::Timeouts;

/// What is known about one connection, shared by its socket, its requests, its
/// streams and the task that watches it.
///
/// Nothing here sets a timer: the watcher does, once, and looks again when it
/// fires, so a request costs a lock and a glance at the clock.
#[derive(Debug)]
pub(super) struct Pulse(Mutex<State>);

#[derive(Debug)]
struct State {
    requests: usize,
    waiting: Waiting,
    since: Instant,
    /// HTTP/2, where bytes between two requests need not be a head.
    multiplexed: bool,
    expects_more: bool,
    blocked_since: Option<Instant>,
    next_stream: u64,
    /// Streams whose last chunk the peer has not made room for.
    untaken: BTreeMap<u64, Instant>,
}

/// What a connection without a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// The rest of a head, or the first one.
    Head,
    /// Anything at all.
    Idle,
}

/// What to do about a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// Nothing; look again at this time.
    Well(Instant),
    /// Nobody uses it: let it go.
    Unused,
    /// The peer holds it up: cut it.
    Stuck(&'static str),
}

impl Pulse {
    pub(super) fn new(now: Instant) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            requests: 0,
            waiting: Waiting::Head,
            since: now,
            multiplexed: false,
            expects_more: false,
            blocked_since: None,
            next_stream: 0,
            untaken: BTreeMap::new(),
        })))
    }

    /// Bytes came in.
    pub(super) fn read(&self) {
        let mut state = self.state();
        if state.requests == 0 && state.waiting == Waiting::Idle && !state.multiplexed {
            state.waiting = Waiting::Head;
            state.since = clock::now();
        }
    }

    /// Bytes went out.
    pub(super) fn written(&self) {
        self.state().blocked_since = None;
    }

    /// Bytes could not go out, because the peer does not read.
    pub(super) fn blocked(&self) {
        self.state().blocked_since.get_or_insert_with(clock::now);
    }

    /// The peer is, or may be, sending something nobody will read.
    pub(super) fn expect_more(&self) {
        self.state().expects_more = true;
    }

    pub(super) fn expects_more(&self) -> bool {
        self.state().expects_more
    }

    /// A request begins; it ends when the guard is dropped.
    pub(super) fn request(self: &Arc<Self>, version: Version) -> InFlight {
        let mut state = self.state();
        state.requests += 1;
        state.multiplexed = version == Version::HTTP_2;
        state.expects_more = false;
        drop(state);
        InFlight(Arc::clone(self))
    }

    /// A stream begins; it ends when the guard is dropped.
    pub(super) fn stream(self: &Arc<Self>) -> StreamPulse {
        let mut state = self.state();
        state.next_stream += 1;
        StreamPulse {
            pulse: Arc::clone(self),
            id: state.next_stream,
        }
    }

    /// Whether the peer keeps us waiting, so that the watcher's timer may have
    /// to be set to an earlier time.
    pub(super) fn is_pressing(&self) -> bool {
        let state = self.state();
        let head = state.requests == 0 && state.waiting == Waiting::Head;
        head || state.blocked_since.is_some()
    }

    pub(super) fn condition(&self, timeouts: &Timeouts, now: Instant) -> Condition {
        let state = self.state();
        let written = state.blocked_since.into_iter();
        let oldest = written.chain(state.untaken.values().copied()).min();
        if let Some(since) = oldest {
            let due = since + timeouts.write;
            if due <= now {
                return Condition::Stuck("the peer does not read");
            }
            return Condition::Well(due);
        }
        if state.requests > 0 {
            return Condition::Well(now + timeouts.write);
        }
        match state.waiting {
            Waiting::Head if state.since + timeouts.head <= now => {
                Condition::Stuck("the head does not come")
            }
            Waiting::Idle if state.since + timeouts.idle <= now => Condition::Unused,
            Waiting::Head => Condition::Well(state.since + timeouts.head),
            Waiting::Idle => Condition::Well(state.since + timeouts.idle),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request on a connection.
#[derive(Debug)]
pub(super) struct InFlight(Arc<Pulse>);

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.requests -= 1;
        if state.requests == 0 {
            state.waiting = Waiting::Idle;
            state.since = clock::now();
        }
    }
}

/// A stream on a connection.
///
/// The connection polls a stream for the next chunk when the last one has found
/// room. On HTTP/2 a peer can withhold that room without blocking the socket;
/// this is where it is noticed.
#[derive(Debug)]
pub(super) struct StreamPulse {
    pulse: Arc<Pulse>,
    id: u64,
}

impl StreamPulse {
    pub(super) fn given(&self) {
        self.pulse.state().untaken.insert(self.id, clock::now());
    }

    pub(super) fn taken(&self) {
        self.pulse.state().untaken.remove(&self.id);
    }
}

impl Drop for StreamPulse {
    fn drop(&mut self) {
        self.taken();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn timeouts() -> Timeouts {
        Timeouts {
            head: 2 * SECOND,
            idle: 5 * SECOND,
            write: 3 * SECOND,
            ..Timeouts::default()
        }
    }

    async fn check(pulse: &Pulse, well_for: u32, then: Condition) {
        let start = clock::now();
        let due = start + well_for * SECOND;
        let limits = timeouts();
        let before = due - Duration::from_millis(1);
        assert_eq!(pulse.condition(&limits, before), Condition::Well(due));
        assert_eq!(pulse.condition(&limits, due), then);
        tokio::time::advance(SECOND / 4).await;
    }

    const NO_HEAD: Condition = Condition::Stuck("the head does not come");
    const NOT_READ: Condition = Condition::Stuck("the peer does not read");

    #[tokio::test(start_paused = true)]
    async fn a_new_connection_has_the_time_of_a_head() {
        let pulse = Pulse::new(clock::now());
        check(&pulse, 2, NO_HEAD).await;
        pulse.read();
        let start = clock::now() - SECOND / 4;
        assert_eq!(
            pulse.condition(&timeouts(), clock::now()),
            Condition::Well(start + 2 * SECOND)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn between_requests_there_is_more_time_until_a_head_begins() {
        let pulse = Pulse::new(clock::now());
        drop(pulse.request(Version::HTTP_11));
        check(&pulse, 5, Condition::Unused).await;
        pulse.read();
        check(&pulse, 2, NO_HEAD).await;
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_between_the_requests_of_http2_are_no_head() {
        let pulse = Pulse::new(clock::now());
        drop(pulse.request(Version::HTTP_2));
        pulse.read();
        check(&pulse, 5, Condition::Unused).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_may_take_its_time_unless_the_peer_does_not_read() {
        let pulse = Pulse::new(clock::now());
        let request = pulse.request(Version::HTTP_11);
        let later = clock::now() + 1000 * SECOND;
        assert_eq!(
            pulse.condition(&timeouts(), later),
            Condition::Well(later + 3 * SECOND)
        );
        pulse.blocked();
        check(&pulse, 3, NOT_READ).await;
        pulse.blocked();
        let since = clock::now() - SECOND / 4;
        assert_eq!(
            pulse.condition(&timeouts(), clock::now()),
            Condition::Well(since + 3 * SECOND),
            "being blocked again does not start the clock again"
        );
        pulse.written();
        drop(request);
        check(&pulse, 5, Condition::Unused).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_stream_that_waits_longest_counts() {
        let pulse = Pulse::new(clock::now());
        let _request = pulse.request(Version::HTTP_11);
        let (one, two) = (pulse.stream(), pulse.stream());
        one.given();
        check(&pulse, 3, NOT_READ).await;
        two.given();
        one.taken();
        check(&pulse, 3, NOT_READ).await;
        drop(two);
        let now = clock::now();
        assert_eq!(
            pulse.condition(&timeouts(), now),
            Condition::Well(now + 3 * SECOND)
        );
    }
}
