//! Operations of callers on their tasks, in every dialect.

use std::time::Duration;

use sterna_http::auth::Caller;
use sterna_store::{Answer, Answered, Error, Listing, Page, Status, Task, TaskId};
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, sleep_until};

use super::Tasks;
use crate::handler::RequestError;

/// A task that never existed, one that has expired and one of another caller look
/// the same: `None` (TASK-S20, TASK-S22).
impl Tasks {
    pub(crate) async fn find(&self, caller: &Caller, id: TaskId) -> Result<Option<Task>, Error> {
        self.store.read(self.owner(caller), id).await
    }

    pub(crate) async fn list(&self, caller: &Caller, page: Page) -> Result<Listing, Error> {
        self.store.list(self.owner(caller), page).await
    }

    /// Hands answers in. The first to a question counts; whatever answers
    /// nothing that is open is ignored (TASK-S16).
    pub(crate) async fn answer(
        &self,
        caller: &Caller,
        id: TaskId,
        answers: Vec<Answer>,
    ) -> Result<Option<Answered>, Error> {
        let answered = self.store.answer(self.owner(caller), id, answers).await?;
        self.wake_workers();
        Ok(answered)
    }

    pub(crate) async fn cancel(
        &self,
        caller: &Caller,
        id: TaskId,
    ) -> Result<Option<Status>, Error> {
        let cancelled = self.store.cancel(self.owner(caller), id).await?;
        self.wake_workers();
        Ok(cancelled)
    }

    /// Returns a receiver that is notified when this instance changes any task.
    /// Other instances change tasks too, so a waiting request also polls.
    pub(crate) fn changes(&self) -> Receiver<u64> {
        self.queue.changes()
    }

    /// Waits until a task may look different from how it did at `looked_at`:
    /// something was changed here, or it is time to look again.
    pub(crate) async fn pause(&self, looked_at: Instant, changed: &mut Receiver<u64>) {
        sleep_until(looked_at + SHORTEST_PAUSE).await;
        tokio::select! {
            () = sleep_until(looked_at + self.config.poll_interval) => {}
            // The sender is in the server, which outlives its requests.
            _ = changed.changed() => {}
        }
        changed.mark_unchanged();
    }

    /// Wakes workers and watchers.
    fn wake_workers(&self) {
        self.queue.notify_workers();
        self.queue.notify_changed();
    }
}

/// Error for a task that the caller does not have. One text for every reason
/// (TASK-S20, TASK-S22).
pub(crate) fn unknown() -> RequestError {
    RequestError::invalid_params("Unknown task")
}

/// Shortest time between two looks at a task.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
