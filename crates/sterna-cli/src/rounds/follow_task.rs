//! Tasks of 2025-11-25, which do not list their questions: the server sends
//! them to the client that waits for the result.

use std::time::Duration;

use sterna_client::{Reply, TaskHandle};
use sterna_protocol::input::InputRequests;
use sterna_protocol::tasks::TaskState;
use sterna_protocol::tool::CallToolResult;
use tokio::time::sleep;

use super::{CallProgress, Rounds};
use crate::exit::{Exit, Failure};
use crate::session::failure;

/// Outcome of waiting for a task.
enum Waited {
    /// The task has ended.
    Ended(Box<CallToolResult>),
    /// These questions have no answer.
    Left(InputRequests),
}

impl Rounds<'_> {
    /// Follows a task to its end, or until a question has no answer.
    pub(crate) async fn wait_for<T: Reply>(
        &self,
        task: &TaskHandle,
    ) -> Result<CallProgress<T>, Failure> {
        match self.wait(task).await? {
            Waited::Ended(result) => {
                let result = T::of_task(*result).map_err(failure)?;
                Ok(self.end(result).await)
            }
            Waited::Left(open) => Ok(CallProgress::Later(self.leave_open(task, &open)?)),
        }
    }

    /// Answers what a task asks, until it goes on; with which exit code to
    /// leave it, if nothing was answered.
    pub(crate) async fn answer_while_waiting(
        &self,
        task: &TaskHandle,
    ) -> Result<Option<Exit>, Failure> {
        let goes_on = async {
            loop {
                sleep(POLL_INTERVAL).await;
                let found = task.get(self.client).await.map_err(failure)?;
                if !matches!(found.state(), TaskState::InputRequired(_)) {
                    return Ok::<_, Failure>(());
                }
            }
        };
        let open = tokio::select! {
            waited = self.wait(task) => match waited? {
                Waited::Ended(_) => return Ok(None),
                Waited::Left(open) => open,
            },
            gone = goes_on => return gone.map(|()| None),
        };
        // What comes after an answer is for the next time.
        if self.answerer.lock().await.has_answered() {
            return Ok(None);
        }
        self.leave_open(task, &open).map(Some)
    }

    async fn wait(&self, task: &TaskHandle) -> Result<Waited, Failure> {
        let left = self.answerer.lock().await.may_leave(task.task_id());
        let mut followed = Box::pin(self.unless_left(task, task.follow(self.client)));
        tokio::select! {
            ended = &mut followed => return Ok(Waited::Ended(Box::new(ended?))),
            () = left.notified() => {}
        }
        // Goes on waiting meanwhile: other questions may be being answered.
        let open = async {
            if self.answerer.lock().await.has_answered() {
                sleep(DELIVERY_TIME).await;
            }
            self.answerer.lock().await.take_left()
        };
        tokio::select! {
            ended = &mut followed => Ok(Waited::Ended(Box::new(ended?))),
            open = open => Ok(Waited::Left(open)),
        }
    }
}

/// Interval at which a task is polled after an answer.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Time that an answer takes to the server.
const DELIVERY_TIME: Duration = Duration::from_secs(1);
