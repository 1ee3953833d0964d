//! Following a task of 2025-11-25 or SEP-2322: look how it stands, and have its
//! result told when there is one, or when it asks something.

use std::time::Duration;

use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::result::Outcome;
use sterna_protocol::tasks::TaskStatus;
use sterna_protocol::tool::CallToolResult;
use tokio::time::Instant;

use super::follow::USUAL;
use super::legacy::LegacyTask;
use super::questions::Questions;
use super::watcher::{FASTEST, SLOWEST};
use crate::error::{Error, ErrorKind, Fault};

pub(super) async fn wait(
    task: &LegacyTask<'_>,
    declared: &ClientCapabilities,
) -> Result<CallToolResult, Error> {
    let mut questions = Questions::repeatable();
    let mut refusals = 0;
    loop {
        // From here on, so that nothing is missed while looking.
        let told = task.session.map(|session| session.broadcast.task_changed());
        let looked_at = Instant::now();
        let seen = task.look().await?;
        match seen.status {
            TaskStatus::Cancelled => return Err(Fault::TaskCancelled.into()),
            TaskStatus::Completed | TaskStatus::Failed => {
                return match task.result().await? {
                    Outcome::Complete(result) => Ok(result),
                    _ => Err(Fault::Broken("a task that is done and asks").into()),
                };
            }
            TaskStatus::InputRequired => match task.result().await {
                Ok(Outcome::Complete(result)) => return Ok(result),
                Ok(Outcome::InputRequired(asked)) => {
                    refusals = 0;
                    let (open, _) = asked.into_parts();
                    let found = questions.answer(task.core, task.task_id, open, declared);
                    if let Some(answers) = found.await? {
                        task.respond(&answers).await?;
                        continue;
                    }
                }
                Ok(Outcome::Extension(never)) => match never {},
                // The answer may take longer than the timeout; the status of
                // the task is fetched again.
                Err(error) if is_passing(&error) => {}
                Err(error) => {
                    refusals += 1;
                    if refusals >= MOST_REFUSALS {
                        return Err(error);
                    }
                }
            },
            _ => questions.forget(),
        }
        let pace = seen.poll_interval_ms.map_or(USUAL, Duration::from_millis);
        let due = tokio::time::sleep_until(looked_at + pace.clamp(FASTEST, SLOWEST));
        let soon = tokio::time::sleep_until(looked_at + FASTEST);
        tokio::select! {
            () = due => {}
            () = async {
                match told {
                    Some(told) => told.await,
                    None => std::future::pending().await,
                }
                soon.await;
            } => {}
        }
    }
}

fn is_passing(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Spent | ErrorKind::Unavailable)
}

/// A task may move on between two looks, but not each time.
const MOST_REFUSALS: u32 = 3;
