//! Requests that ask for a task, in the dialects of 2026-07-28.

use std::time::Duration;

use sterna_protocol::capabilities::{ClientCapabilities, ExtensionId};
use sterna_protocol::json::JsonObject;
use sterna_protocol::legacy::TaskMetadata;

use crate::core::Core;
use crate::failure::Failure;
use crate::task_mode::{TaskDialect, TaskMode, TaskOptions};

/// Returns the options of the task that a call may become; `sent` are the
/// members of its parameters besides those of every call. Clients that declare
/// the extension use that; others may ask as in SEP-2322, if the server has it.
///
/// # Errors
///
/// It asks for a task and may not, or it does not and must.
pub(super) fn requested_task(
    core: &Core,
    mode: TaskMode,
    capabilities: &ClientCapabilities,
    sent: &JsonObject,
) -> Result<Option<TaskOptions>, Failure> {
    let declared = capabilities.has_extension(ExtensionId::TASKS.as_str());
    let task = sent.get("task").filter(|_| core.sep2322_tasks);
    let options = match task {
        Some(task) if !declared => {
            let task: TaskMetadata = task.decode().map_err(|_| {
                Failure::params(
                    "`task` must be an object whose `ttl`, if it has one, is in milliseconds",
                )
            })?;
            if mode == TaskMode::Never {
                return Err(Failure::AsTask(
                    "The tool does not run as a task; call it without `task`",
                ));
            }
            Some(TaskOptions {
                dialect: TaskDialect::Proposal,
                ttl: task.ttl.map(Duration::from_millis),
            })
        }
        _ => mode.decide(capabilities)?.then_some(TaskOptions {
            dialect: TaskDialect::Extension,
            ttl: None,
        }),
    };
    Ok(options.filter(|_| core.tasks.is_some()))
}
