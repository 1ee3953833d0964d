//! Tools that run as tasks, and calls that ask for one.

use std::time::Duration;

use sterna_protocol::capabilities::{ClientCapabilities, ExtensionId};
use sterna_protocol::legacy::{TaskSupport, ToolExecution};

use crate::failure::Failure;

/// Setting of a tool that runs as a task: in a store, where it outlives its
/// request and survives a crash.
///
/// A client asks for a task by declaring the tasks extension or, within a
/// session of 2025-11-25, by sending `task` with its call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskMode {
    /// Always. A call that does not ask for a task is refused, and sessions of
    /// the revisions that know no tasks do not see the tool.
    Always,
    /// Never; the client waits for the answer.
    #[default]
    Never,
    /// For calls that ask for it. Others wait for the answer.
    Optional,
}

impl TaskMode {
    /// Returns `true` if a call of a client that declared `capabilities` becomes a
    /// task.
    ///
    /// # Errors
    ///
    /// It must, and the client could not read the answer (TASK-S1, TASK-S2).
    pub(crate) fn decide(self, capabilities: &ClientCapabilities) -> Result<bool, Failure> {
        let declared = capabilities.has_extension(ExtensionId::TASKS.as_str());
        match self {
            Self::Never => Ok(false),
            Self::Always | Self::Optional if declared => Ok(true),
            Self::Optional => Ok(false),
            Self::Always => {
                let needed = ClientCapabilities::default().with_extension(&ExtensionId::TASKS);
                Err(Failure::Capability(Box::new(needed)))
            }
        }
    }

    /// Setting in the types of 2025-11-25; `None` for its default.
    pub(crate) fn execution(self) -> Option<ToolExecution> {
        let support = match self {
            Self::Always => TaskSupport::Required,
            Self::Never => return None,
            Self::Optional => TaskSupport::Optional,
        };
        let mut execution = ToolExecution::default();
        execution.task_support = Some(support);
        Some(execution)
    }
}

/// Options of a call that may become a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskOptions {
    pub(crate) dialect: TaskDialect,
    /// Time for which the client wants the task to be kept.
    pub(crate) ttl: Option<Duration>,
}

/// Dialect in which a client speaks about tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TaskDialect {
    /// That of the extension, for clients that declare it.
    Extension,
    /// That of SEP-2322.
    Proposal,
}
