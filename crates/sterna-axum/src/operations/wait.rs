//! Waits for an operation to end.

use std::time::Duration;

use sterna_store::{Error, Owner, Status, Task, TaskId};
use tokio::time::Instant;

use super::OperationStore;

impl OperationStore {
    /// Waits until the operation has ended or asks, at most for `longest`, and
    /// returns it as it is then; `None` if `owner` has no such operation.
    pub(crate) async fn wait(
        &self,
        owner: Owner,
        id: TaskId,
        longest: Duration,
    ) -> Result<Option<Task>, Error> {
        let deadline = Instant::now() + longest;
        let mut watch = self.queue.watch([id]);
        loop {
            let looked_at = Instant::now();
            let Some(task) = self.store.read(owner, id).await? else {
                return Ok(None);
            };
            let status = task.summary.status;
            if status.is_final() || status == Status::InputRequired || looked_at >= deadline {
                return Ok(Some(task));
            }
            // Other instances change operations too.
            watch.changed(deadline.min(looked_at + LONGEST_PAUSE)).await;
        }
    }
}

const LONGEST_PAUSE: Duration = Duration::from_millis(500);
