//! Tasks of 2025-11-25, which show nobody what they ask: they ask whoever waits
//! for their result.

use std::time::Duration;

use sterna_client::{Reply, TaskHandle};
use sterna_protocol::input::InputRequests;
use sterna_protocol::tasks::TaskState;
use sterna_protocol::tool::CallToolResult;
use tokio::time::sleep;

use crate::exit::{Exit, Failure};
use crate::rounds::{Reached, Rounds};
use crate::session::failure;

/// What came of waiting.
enum Waited {
    /// The task has ended.
    Ended(Box<CallToolResult>),
    /// Nobody answers these questions.
    Left(InputRequests),
}

impl Rounds<'_> {
    /// Follows a task to its end, or until it asks what nobody answers.
    pub(crate) async fn wait_for<T: Reply>(
        &self,
        task: &TaskHandle,
    ) -> Result<Reached<T>, Failure> {
        match self.wait(task).await? {
            Waited::Ended(result) => {
                let result = T::of_task(*result).map_err(failure)?;
                Ok(self.end(result).await)
            }
            Waited::Left(open) => Ok(Reached::Later(self.leave_open(task, &open)?)),
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
                sleep(LOOKING).await;
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
        if self.desk.lock().await.has_answered() {
            return Ok(None);
        }
        self.leave_open(task, &open).map(Some)
    }

    async fn wait(&self, task: &TaskHandle) -> Result<Waited, Failure> {
        let left = self.desk.lock().await.may_leave(task.task_id());
        let mut followed = Box::pin(self.unless_left(task, task.follow(self.client)));
        tokio::select! {
            ended = &mut followed => return Ok(Waited::Ended(Box::new(ended?))),
            () = left.notified() => {}
        }
        // Goes on waiting meanwhile: other questions may be being answered.
        let open = async {
            if self.desk.lock().await.has_answered() {
                sleep(ON_ITS_WAY).await;
            }
            self.desk.lock().await.take_left()
        };
        tokio::select! {
            ended = &mut followed => Ok(Waited::Ended(Box::new(ended?))),
            open = open => Ok(Waited::Left(open)),
        }
    }
}

/// How soon it is seen that an answer was made use of.
const LOOKING: Duration = Duration::from_millis(100);

/// What an answer takes to the server.
const ON_ITS_WAY: Duration = Duration::from_secs(1);
