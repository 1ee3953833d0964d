//! The connections that are open, and room for one more.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use tokio::task::{Id, JoinSet};

use super::monitor::ConnectionMonitor;

/// The connections that are open.
///
/// Above the limit there is a small reserve: a connection in it is served
/// probes and nothing else, so that an orchestrator does not take a busy server
/// for a dead one.
#[derive(Debug)]
pub(super) struct Connections {
    tasks: JoinSet<()>,
    open: HashMap<Id, (Arc<ConnectionMonitor>, Admitted)>,
    /// Those that are not in the reserve.
    served: usize,
    limit: usize,
}

/// The requests that a connection may send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Admitted {
    /// All requests.
    #[default]
    Fully,
    /// Requests of `/livez`, `/readyz` and `/metrics`: the limit is reached.
    ForProbes,
}

impl Connections {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            tasks: JoinSet::new(),
            open: HashMap::new(),
            served: 0,
            limit,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns `true` if the next connection can be accepted.
    pub(super) fn has_room(&self) -> bool {
        self.tasks.len() < self.limit.saturating_add(RESERVED)
    }

    /// Makes room for one more connection if the server is full, and returns the kind
    /// of service for it.
    pub(super) fn admit(&self) -> Admitted {
        if self.served < self.limit || self.close_longest_idle(Admitted::Fully) {
            return Admitted::Fully;
        }
        if self.tasks.len() + 1 >= self.limit.saturating_add(RESERVED) {
            // The reserve must not be held by connections that say nothing.
            self.close_longest_idle(Admitted::ForProbes);
        }
        Admitted::ForProbes
    }

    /// Closes, of the connections that were `admitted` so, the one that has
    /// been without a request for longest; `false` if all have one.
    pub(super) fn close_longest_idle(&self, admitted: Admitted) -> bool {
        let alike = self
            .open
            .values()
            .filter(|(_, as_what)| *as_what == admitted);
        let idle = alike.filter_map(|(monitor, _)| Some((monitor.idle_since()?, monitor)));
        let longest = idle.min_by_key(|(since, _)| *since);
        longest.is_some_and(|(_, monitor)| monitor.let_go())
    }

    /// Returns the moment since which no connection has had a request, but not one
    /// before `earliest`; `None` if one has a request or a stream.
    pub(super) fn idle_since(&self, earliest: Instant) -> Option<Instant> {
        let mut monitors = self.open.values().map(|(monitor, _)| monitor);
        monitors.try_fold(earliest, |latest, monitor| {
            Some(latest.max(monitor.idle_since()?))
        })
    }

    pub(super) fn open(
        &mut self,
        monitor: Arc<ConnectionMonitor>,
        admitted: Admitted,
        connection: impl Future<Output = ()> + Send + 'static,
    ) {
        let task = self.tasks.spawn(connection);
        self.open.insert(task.id(), (monitor, admitted));
        self.served += usize::from(admitted == Admitted::Fully);
    }

    /// Waits for the end of a connection; `None` if no connection is open.
    pub(super) async fn ended(&mut self) -> Option<()> {
        let id = match self.tasks.join_next_with_id().await? {
            Ok((id, ())) => id,
            Err(error) => error.id(),
        };
        if let Some((_, Admitted::Fully)) = self.open.remove(&id) {
            self.served -= 1;
        }
        Some(())
    }

    /// Cuts all that are left.
    pub(super) async fn cut(&mut self) {
        self.tasks.shutdown().await;
    }
}

/// Connections beyond the limit. A probe is answered within a moment, and the
/// next one takes its place.
const RESERVED: usize = 32;
