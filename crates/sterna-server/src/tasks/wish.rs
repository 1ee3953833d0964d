//! Whether a call wants to be a task, and in whose words.

use std::time::Duration;

use serde::{Serialize, Serializer};
use sterna_protocol::capabilities::{ClientCapabilities, ExtensionId};
use sterna_protocol::json::JsonObject;
use sterna_protocol::legacy::{self, TaskMetadata};
use sterna_protocol::result::Complete;
use sterna_protocol::tasks::CreateTaskResult;

use super::TaskMode;
use crate::core::Core;
use crate::failure::Failure;

/// How a call is a task, if it becomes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(super) dialect: Dialect,
    /// How long the client wants the task to be kept.
    pub(crate) ttl: Option<Duration>,
}

/// In whose words a task is spoken of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Dialect {
    /// The extension's.
    Extension,
    /// Those of SEP-2322.
    Proposal,
}

/// Whether a call may become a task that has the members `sent` besides those
/// of every call. Whoever declares the extension speaks that; others may ask as
/// SEP-2322 has it, if the server listens to them.
///
/// # Errors
///
/// It asks for a task and may not, or it does not and must.
pub(crate) fn wish(
    core: &Core,
    mode: TaskMode,
    capabilities: &ClientCapabilities,
    sent: &JsonObject,
) -> Result<Option<Wish>, Failure> {
    let declared = capabilities.has_extension(ExtensionId::TASKS.as_str());
    let task = sent.get("task").filter(|_| core.sep2322_tasks);
    let wish = match task {
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
            Some(Wish {
                dialect: Dialect::Proposal,
                ttl: task.ttl.map(Duration::from_millis),
            })
        }
        _ => mode.decide(capabilities)?.then_some(Wish {
            dialect: Dialect::Extension,
            ttl: None,
        }),
    };
    Ok(wish.filter(|_| core.tasks.is_some()))
}

/// The answer to a call that goes on as a task.
#[derive(Debug)]
pub(crate) enum Created {
    Extension(CreateTaskResult),
    Proposal(legacy::CreateTaskResult),
}

impl Serialize for Created {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Extension(created) => created.serialize(serializer),
            // BASE-S3: the proposal itself says nothing, which means the same.
            Self::Proposal(created) => Complete(created).serialize(serializer),
        }
    }
}
