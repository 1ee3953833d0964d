//! Following a task to its end: one of the extension by its status, one of
//! 2025-11-25 or SEP-2322 by asking for its result.

use std::sync::Arc;
use std::time::Duration;

use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::jsonrpc::Nothing;
use sterna_protocol::result::Outcome;
use sterna_protocol::tasks::{TaskState, TaskStatus};
use sterna_protocol::tool::CallToolResult;
use tokio::time::Instant;

use super::legacy::LegacyTask;
use super::questions::Questions;
use super::watcher::{FASTEST, SLOWEST, TaskWatcher};
use super::{TaskHandle, extension};
use crate::core::Core;
use crate::error::{Error, ErrorKind, Fault};

/// Waits until the task is over and answers what it asks.
pub(crate) async fn follow(
    core: &Arc<Core>,
    handle: &TaskHandle,
    declared: &ClientCapabilities,
) -> Result<CallToolResult, Error> {
    let task_id = handle.task_id();
    if let Some(older) = LegacyTask::of(core, handle) {
        return follow_legacy(&older, declared).await;
    }
    let mut questions = Questions::default();
    let mut watch = TaskWatcher::new(core, task_id);
    let mut seen = watch.look().await?;
    loop {
        let (task, state) = seen.into_parts();
        match state {
            TaskState::Cancelled => return Err(Fault::TaskCancelled.into()),
            TaskState::Completed(result) => return complete(result.as_str()),
            TaskState::Failed(error) => {
                let status = None;
                return Err(Fault::Refused { error, status }.into());
            }
            TaskState::InputRequired(open) => {
                let answers = questions.answer(core, task_id, open, declared).await?;
                if let Some(answers) = answers {
                    extension::update(core, task_id, answers).await?;
                    seen = watch.look().await?;
                    continue;
                }
            }
            _ => questions.forget(),
        }
        let pace = task.poll_interval_ms.map_or(USUAL, Duration::from_millis);
        seen = watch.next(pace).await?;
    }
}

fn complete(result: &str) -> Result<CallToolResult, Error> {
    match Outcome::<CallToolResult, Nothing>::decode(result) {
        Ok(Outcome::Complete(result)) => Ok(result),
        _ => Err(Fault::Broken("a task that is done without a result").into()),
    }
}

pub(super) const USUAL: Duration = Duration::from_secs(1);

async fn follow_legacy(
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
