//! Operations of callers on their tasks, in every dialect.

use sterna_http::auth::Caller;
use sterna_runner::tasks::TaskWatch;
use sterna_store::{Answer, Answered, Error, Listing, Page, Status, Task, TaskId};
use tokio::time::Instant;

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
        self.notify_changed(id);
        Ok(answered)
    }

    pub(crate) async fn cancel(
        &self,
        caller: &Caller,
        id: TaskId,
    ) -> Result<Option<Status>, Error> {
        let cancelled = self.store.cancel(self.owner(caller), id).await?;
        self.notify_changed(id);
        Ok(cancelled)
    }

    /// Waits until a watched task may look different from how it did at
    /// `looked_at`: this instance has changed it, or it is time to look again.
    pub(crate) async fn pause(&self, looked_at: Instant, watch: &mut TaskWatch) {
        watch.changed(looked_at + self.config.poll_interval).await;
    }

    /// Wakes workers and the requests that wait for the task.
    fn notify_changed(&self, task: TaskId) {
        self.queue.notify_workers();
        self.queue.notify_changed(task);
    }
}

/// Error for a task that the caller does not have. One text for every reason
/// (TASK-S20, TASK-S22).
pub(crate) fn unknown() -> RequestError {
    RequestError::invalid_params("Unknown task")
}
