//! Dialects of task requests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sterna_protocol::capabilities::{ClientCapabilities, ServerCapabilities};
use sterna_protocol::legacy::{ServerTasksCapability, TaskMetadata};
use sterna_protocol::tasks::EXTENSION;

use crate::core::{Core, Protocol};

/// Dialect of the task requests to a server of 2026-07-28. Sessions have only
/// one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum TaskDialect {
    /// As the extension has it.
    #[default]
    Extension,
    /// As SEP-2322 has it.
    Proposal,
}

impl TaskDialect {
    /// The one that `server` prefers.
    pub(crate) fn of(server: &ServerCapabilities) -> Self {
        match !server.has_extension(EXTENSION) && runs_proposed(server) {
            true => Self::Proposal,
            false => Self::Extension,
        }
    }

    pub(super) fn is_extension(&self) -> bool {
        *self == Self::Extension
    }
}

/// Task parameter of a tool call: the one the caller `said`, or a default for a
/// tool that only runs as a task. `None` where the dialect has no such
/// parameter or the server does not support it.
pub(crate) fn wanted(
    core: &Core,
    tool: &str,
    declared: &ClientCapabilities,
    said: Option<&TaskMetadata>,
) -> Option<TaskMetadata> {
    let declared = declared.has_extension(EXTENSION);
    match &core.protocol {
        Protocol::Legacy(session) if session.runs_tasks() => {
            let must = || core.tools.get(tool).is_some_and(|known| known.task_only);
            let must = || (declared && must()).then(TaskMetadata::default);
            said.cloned().or_else(must)
        }
        Protocol::Modern => {
            let server = &core.server.capabilities;
            // Where both sides declare the extension, it is used.
            let protocol = declared && server.has_extension(EXTENSION);
            said.filter(|_| !protocol && runs_proposed(server)).cloned()
        }
        Protocol::Legacy(_) => None,
    }
}

/// Removes the extension: a client that declares it does not use SEP-2322.
pub(crate) fn undeclare(capabilities: &mut ClientCapabilities) {
    if let Some(extensions) = &mut capabilities.extensions {
        extensions.remove(EXTENSION);
    }
    let left = |extensions: &mut BTreeMap<_, _>| !extensions.is_empty();
    capabilities.extensions = capabilities.extensions.take_if(left);
}

/// Returns true if a modern server declares tasks for tool calls in the form of
/// SEP-2322.
fn runs_proposed(server: &ServerCapabilities) -> bool {
    let tasks = server.extra.get("tasks");
    let tasks: Option<ServerTasksCapability> = tasks.and_then(|tasks| tasks.decode().ok());
    let tools = tasks.and_then(|tasks| tasks.requests?.tools);
    tools.is_some_and(|tools| tools.call.is_some())
}
