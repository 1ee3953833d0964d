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
pub(crate) struct OpenQuestions(Mutex<QuestionTimes>);

#[derive(Debug, Default)]
struct QuestionTimes {
    begun: u64,
    /// Two may have the same id if the server does not keep the rules.
    open: BTreeMap<u64, (RequestId, oneshot::Sender<()>)>,
    since: Option<Instant>,
    /// In all, before those that are open.
    time: Duration,
}

impl OpenQuestions {
    /// Counts a question until what this returns is dropped.
    pub(super) fn begin(self: &Arc<Self>, id: RequestId) -> OpenQuestion {
        let (stop, stopped) = oneshot::channel();
        let mut times = lock(&self.0);
        times.begun += 1;
        let number = times.begun;
        times.open.insert(number, (id, stop));
        times.since.get_or_insert_with(Instant::now);
        OpenQuestion {
            open_questions: self.clone(),
            number,
            stopped,
        }
    }

    /// Withdraws the questions of a request that the server cancelled.
    pub(super) fn take_back(&self, id: &RequestId) {
        lock(&self.0).open.retain(|_, (open, _)| open != id);
    }

    pub(crate) fn is_under_way(&self) -> bool {
        !lock(&self.0).open.is_empty()
    }

    /// Total time with an open question; simultaneous questions count once.
    pub(crate) fn time(&self) -> Duration {
        let times = lock(&self.0);
        let running = times.since.map(|since| since.elapsed());
        times.time + running.unwrap_or_default()
    }
}

/// A question that is open.
pub(super) struct OpenQuestion {
    open_questions: Arc<OpenQuestions>,
    number: u64,
    stopped: oneshot::Receiver<()>,
}

impl OpenQuestion {
    /// The outcome of `work`, unless the question is taken back before.
    pub(super) async fn unless_taken_back<T>(mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            _ = &mut self.stopped => None,
            done = work => Some(done),
        }
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        let mut times = lock(&self.open_questions.0);
        times.open.remove(&self.number);
        if times.open.is_empty()
            && let Some(since) = times.since.take()
        {
            times.time += since.elapsed();
        }
    }
}
