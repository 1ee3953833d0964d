//! When people are being asked for a server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sterna_protocol::jsonrpc::RequestId;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::open::lock;

/// The questions of a session that are open, and the time that they took.
#[derive(Debug, Default)]
pub(crate) struct Asking(Mutex<Watch>);

#[derive(Debug, Default)]
struct Watch {
    begun: u64,
    /// Two may have the same id if the server does not keep the rules.
    open: BTreeMap<u64, (RequestId, oneshot::Sender<()>)>,
    since: Option<Instant>,
    /// In all, before those that are open.
    time: Duration,
}

impl Asking {
    /// Counts a question until what this returns is dropped.
    pub(super) fn begin(self: &Arc<Self>, id: RequestId) -> Asked {
        let (stop, stopped) = oneshot::channel();
        let mut watch = lock(&self.0);
        watch.begun += 1;
        let number = watch.begun;
        watch.open.insert(number, (id, stop));
        watch.since.get_or_insert_with(Instant::now);
        Asked {
            asking: self.clone(),
            number,
            stopped,
        }
    }

    /// Stops asking what the server does not want to know any more.
    pub(super) fn take_back(&self, id: &RequestId) {
        lock(&self.0).open.retain(|_, (open, _)| open != id);
    }

    pub(crate) fn is_under_way(&self) -> bool {
        !lock(&self.0).open.is_empty()
    }

    /// For how long somebody was asked, questions at the same time counted
    /// once.
    pub(crate) fn time(&self) -> Duration {
        let watch = lock(&self.0);
        let running = watch.since.map(|since| since.elapsed());
        watch.time + running.unwrap_or_default()
    }
}

/// A question that is open.
pub(super) struct Asked {
    asking: Arc<Asking>,
    number: u64,
    stopped: oneshot::Receiver<()>,
}

impl Asked {
    /// The outcome of `work`, unless the question is taken back before.
    pub(super) async fn unless_taken_back<T>(mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            _ = &mut self.stopped => None,
            done = work => Some(done),
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let mut watch = lock(&self.asking.0);
        watch.open.remove(&self.number);
        if watch.open.is_empty()
            && let Some(since) = watch.since.take()
        {
            watch.time += since.elapsed();
        }
    }
}
