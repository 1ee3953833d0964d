//! Following a task to its end.

use std::sync::Arc;
use std::time::Duration;

use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::jsonrpc::Nothing;
use sterna_protocol::result::Outcome;
use sterna_protocol::tasks::TaskState;
use sterna_protocol::tool::CallToolResult;

use super::legacy::LegacyTask;
use super::questions::Questions;
use super::watcher::TaskWatcher;
use super::{TaskHandle, extension, wait};
use crate::core::Core;
use crate::error::{Error, Fault};

/// Waits until the task is over and answers what it asks.
pub(crate) async fn follow(
    core: &Arc<Core>,
    handle: &TaskHandle,
    declared: &ClientCapabilities,
) -> Result<CallToolResult, Error> {
    let task_id = handle.task_id();
    if let Some(older) = LegacyTask::of(core, handle) {
        return wait::wait(&older, declared).await;
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
