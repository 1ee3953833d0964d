//! State of a connection: active, idle or stalled.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Instant;

use http::Version;

use super::clock;
use super::config::Timeouts;

/// The state of one connection, shared by its socket, its requests, its streams
/// and the task that watches it.
///
/// Nothing here sets a timer: the watcher does, once, and looks again when it
/// fires, so a request costs a lock and a glance at the clock.
#[derive(Debug)]
pub(super) struct ConnectionMonitor(Mutex<State>);

#[derive(Debug)]
struct State {
    requests: usize,
    waiting: Waiting,
    since: Instant,
    /// HTTP/2, where bytes between two requests need not be a head.
    multiplexed: bool,
    expects_more: bool,
    /// The connection is to end, for another one to have its place.
    let_go: bool,
    /// Wakes the task that watches the connection.
    watcher: Option<Waker>,
    blocked_since: Option<Instant>,
    next_stream: u64,
    /// Streams and answers whose last piece the peer has not made room for.
    untaken: BTreeMap<u64, Untaken>,
    /// Its memory is needed, so it is to be closed.
    closing: bool,
}

/// A piece that the peer has not made room for.
#[derive(Clone, Copy, Debug)]
struct Untaken {
    since: Instant,
    /// Since when the answer that it is a piece of is held, if it is large.
    held_since: Option<Instant>,
}

/// The input that a connection without a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// The rest of a head, or the first one.
    Head,
    /// Anything at all.
    Idle,
}

/// The action that a connection needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionState {
    /// Nothing; look again at this time.
    Active(Instant),
    /// It has no request: let it go.
    Idle,
    /// The peer holds it up: cut it.
    Stalled(&'static str),
}

/// Events that the watcher of a connection must not sleep through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Urgency {
    /// Another connection needs the place of this one: end it.
    LetGo,
    /// Nothing.
    None,
    /// The peer keeps us waiting, so the timer may have to be set to an earlier
    /// time.
    Pressing,
}

impl ConnectionMonitor {
    pub(super) fn new(now: Instant) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            requests: 0,
            waiting: Waiting::Head,
            since: now,
            multiplexed: false,
            expects_more: false,
            let_go: false,
            watcher: None,
            blocked_since: None,
            next_stream: 0,
            untaken: BTreeMap::new(),
            closing: false,
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

    /// The peer is, or may be, sending bytes that will not be read.
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
        // Too late to let it go: the request came first.
        state.let_go = false;
        drop(state);
        InFlight(Arc::clone(self))
    }

    /// A stream begins; it ends when the guard is dropped.
    pub(super) fn stream(self: &Arc<Self>) -> StreamMonitor {
        let mut state = self.state();
        state.next_stream += 1;
        StreamMonitor {
            monitor: Arc::clone(self),
            id: state.next_stream,
        }
    }

    /// Wakes `watcher` when the connection is let go.
    pub(super) fn watched_by(&self, watcher: &Waker) {
        self.state().watcher = Some(watcher.clone());
    }

    /// Since when the connection has been idle; `None` if it is not, or is let
    /// go already.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.state();
        (state.is_idle() && !state.let_go).then_some(state.since)
    }

    /// Returns `true` once there has been a request.
    pub(super) fn has_been_used(&self) -> bool {
        let state = self.state();
        state.requests > 0 || state.waiting == Waiting::Idle
    }

    /// Has the connection end, unless it is in use; `true` if it will.
    pub(super) fn let_go(&self) -> bool {
        let mut state = self.state();
        if !state.is_idle() {
            return false;
        }
        state.let_go = true;
        let watcher = state.watcher.clone();
        drop(state);
        if let Some(watcher) = watcher {
            watcher.wake();
        }
        true
    }

    /// The event that the watcher must not sleep through.
    pub(super) fn urgency(&self) -> Urgency {
        let state = self.state();
        let head = state.requests == 0 && state.waiting == Waiting::Head;
        if state.let_go {
            Urgency::LetGo
        } else if head
            || state.closing
            || state.blocked_since.is_some()
            || !state.untaken.is_empty()
        {
            Urgency::Pressing
        } else {
            Urgency::None
        }
    }

    /// Time since which an answer waits for the peer to read it to its end; `None` if
    /// there is no such answer.
    pub(super) fn holds_since(&self) -> Option<Instant> {
        let state = self.state();
        let untaken = state.untaken.values();
        untaken.filter_map(|untaken| untaken.held_since).min()
    }

    /// Has the connection closed, because others need its memory.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closing = true;
        let watcher = state.watcher.clone();
        drop(state);
        if let Some(watcher) = watcher {
            watcher.wake();
        }
    }

    pub(super) fn assess(&self, timeouts: &Timeouts, now: Instant) -> ConnectionState {
        let state = self.state();
        let untaken = state.untaken.values().map(|untaken| untaken.since);
        let oldest = state.blocked_since.into_iter().chain(untaken).min();
        if state.closing {
            return ConnectionState::Stalled("its memory is needed");
        }
        if let Some(since) = oldest {
            let due = since + timeouts.write;
            if due <= now {
                return ConnectionState::Stalled("the peer does not read");
            }
            return ConnectionState::Active(due);
        }
        if state.requests > 0 {
            return ConnectionState::Active(now + timeouts.write);
        }
        match state.waiting {
            Waiting::Head if state.since + timeouts.head <= now => {
                ConnectionState::Stalled("the head does not come")
            }
            Waiting::Idle if state.since + timeouts.idle <= now => ConnectionState::Idle,
            Waiting::Head => ConnectionState::Active(state.since + timeouts.head),
            Waiting::Idle => ConnectionState::Active(state.since + timeouts.idle),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns `true` without a request, and without a response on its way.
    fn is_idle(&self) -> bool {
        self.requests == 0 && self.blocked_since.is_none() && self.untaken.is_empty()
    }
}

/// A request on a connection.
#[derive(Debug)]
pub(super) struct InFlight(Arc<ConnectionMonitor>);

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

/// A stream, or a whole answer, on a connection.
///
/// The connection polls a stream for the next chunk when the last one has found
/// room. On HTTP/2 a peer can withhold that room without blocking the socket;
/// this is where it is noticed.
#[derive(Debug)]
pub(super) struct StreamMonitor {
    monitor: Arc<ConnectionMonitor>,
    id: u64,
}

impl StreamMonitor {
    /// A piece was given to the connection.
    pub(super) fn given(&self) {
        let since = clock::now();
        let mut state = self.monitor.state();
        let untaken = state.untaken.entry(self.id);
        untaken
            .and_modify(|untaken| untaken.since = since)
            .or_insert(Untaken {
                since,
                held_since: None,
            });
    }

    /// Notes that the first piece was given of an answer that is held until the
    /// peer has read it.
    pub(super) fn given_of(&self, held_since: Instant) {
        let untaken = Untaken {
            since: clock::now(),
            held_since: Some(held_since),
        };
        self.monitor.state().untaken.insert(self.id, untaken);
    }

    pub(super) fn taken(&self) {
        self.monitor.state().untaken.remove(&self.id);
    }
}

impl Drop for StreamMonitor {
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

    async fn check(monitor: &ConnectionMonitor, well_for: u32, then: ConnectionState) {
        let start = clock::now();
        let due = start + well_for * SECOND;
        let limits = timeouts();
        let before = due - Duration::from_millis(1);
        assert_eq!(
            monitor.assess(&limits, before),
            ConnectionState::Active(due)
        );
        assert_eq!(monitor.assess(&limits, due), then);
        tokio::time::advance(SECOND / 4).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_let_go_while_it_has_no_request() {
        let monitor = ConnectionMonitor::new(clock::now());
        assert_eq!(monitor.idle_since(), Some(clock::now()));
        let request = monitor.request(Version::HTTP_11);
        assert_eq!(monitor.idle_since(), None);
        assert!(!monitor.let_go());
        drop(request);
        monitor.blocked();
        assert_eq!(monitor.idle_since(), None);
        assert!(!monitor.let_go());
        monitor.written();
        assert!(monitor.let_go());
        assert_eq!(monitor.urgency(), Urgency::LetGo);
        assert_eq!(monitor.idle_since(), None);
        let request = monitor.request(Version::HTTP_11);
        assert_eq!(monitor.urgency(), Urgency::None);
        drop(request);
        assert_eq!(monitor.urgency(), Urgency::None);
    }

    const NO_HEAD: ConnectionState = ConnectionState::Stalled("the head does not come");
    const NOT_READ: ConnectionState = ConnectionState::Stalled("the peer does not read");

    #[tokio::test(start_paused = true)]
    async fn a_new_connection_has_the_time_of_a_head() {
        let monitor = ConnectionMonitor::new(clock::now());
        check(&monitor, 2, NO_HEAD).await;
        monitor.read();
        let start = clock::now() - SECOND / 4;
        assert_eq!(
            monitor.assess(&timeouts(), clock::now()),
            ConnectionState::Active(start + 2 * SECOND)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn between_requests_there_is_more_time_until_a_head_begins() {
        let monitor = ConnectionMonitor::new(clock::now());
        drop(monitor.request(Version::HTTP_11));
        check(&monitor, 5, ConnectionState::Idle).await;
        monitor.read();
        check(&monitor, 2, NO_HEAD).await;
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_between_the_requests_of_http2_are_no_head() {
        let monitor = ConnectionMonitor::new(clock::now());
        drop(monitor.request(Version::HTTP_2));
        monitor.read();
        check(&monitor, 5, ConnectionState::Idle).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_may_take_its_time_unless_the_peer_does_not_read() {
        let monitor = ConnectionMonitor::new(clock::now());
        let request = monitor.request(Version::HTTP_11);
        let later = clock::now() + 1000 * SECOND;
        assert_eq!(
            monitor.assess(&timeouts(), later),
            ConnectionState::Active(later + 3 * SECOND)
        );
        monitor.blocked();
        check(&monitor, 3, NOT_READ).await;
        monitor.blocked();
        let since = clock::now() - SECOND / 4;
        assert_eq!(
            monitor.assess(&timeouts(), clock::now()),
            ConnectionState::Active(since + 3 * SECOND),
            "being blocked again does not start the clock again"
        );
        monitor.written();
        drop(request);
        check(&monitor, 5, ConnectionState::Idle).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_stream_that_waits_longest_counts() {
        let monitor = ConnectionMonitor::new(clock::now());
        let _request = monitor.request(Version::HTTP_11);
        let (one, two) = (monitor.stream(), monitor.stream());
        one.given();
        check(&monitor, 3, NOT_READ).await;
        two.given();
        one.taken();
        check(&monitor, 3, NOT_READ).await;
        drop(two);
        let now = clock::now();
        assert_eq!(
            monitor.assess(&timeouts(), now),
            ConnectionState::Active(now + 3 * SECOND)
        );
    }
}
