//! In whose words a task is spoken of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sterna_protocol::capabilities::{ClientCapabilities, ServerCapabilities};
use sterna_protocol::legacy::{ServerTasksCapability, TaskMetadata};
use sterna_protocol::tasks::EXTENSION;

use crate::core::{Core, Spoken};

/// What a server that speaks 2026-07-28 calls a task. In sessions there is only
/// one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Dialect {
    /// As the extension has it.
    #[default]
    Extension,
    /// As SEP-2322 has it.
    Proposal,
}

impl Dialect {
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

/// How the call of a tool asks to become a task: as the caller `said`, or
/// because the tool knows no other way. `None` where the server is not told, or
/// would not understand it.
pub(crate) fn wanted(
    core: &Core,
    tool: &str,
    declared: &ClientCapabilities,
    said: Option<&TaskMetadata>,
) -> Option<TaskMetadata> {
    let declared = declared.has_extension(EXTENSION);
    match &core.spoken {
        Spoken::Legacy(session) if session.runs_tasks() => {
            let must = || core.tools.get(tool).is_some_and(|known| known.task_only);
            let must = || (declared && must()).then(TaskMetadata::default);
            said.cloned().or_else(must)
        }
        Spoken::Modern => {
            let server = &core.server.capabilities;
            // Where both sides declare the extension, that is spoken.
            let spoken = declared && server.has_extension(EXTENSION);
            said.filter(|_| !spoken && runs_proposed(server)).cloned()
        }
        Spoken::Legacy(_) => None,
    }
}

/// Takes the extension back: whoever declares it does not speak as SEP-2322.
pub(crate) fn undeclare(capabilities: &mut ClientCapabilities) {
    if let Some(extensions) = &mut capabilities.extensions {
        extensions.remove(EXTENSION);
    }
    let left = |extensions: &mut BTreeMap<_, _>| !extensions.is_empty();
    capabilities.extensions = capabilities.extensions.take_if(left);
}

/// Whether a modern server said that calls of tools can become tasks in the
/// words of SEP-2322.
fn runs_proposed(server: &ServerCapabilities) -> bool {
    let tasks = server.extra.get("tasks");
    let tasks: Option<ServerTasksCapability> = tasks.and_then(|tasks| tasks.decode().ok());
    let tools = tasks.and_then(|tasks| tasks.requests?.tools);
    tools.is_some_and(|tools| tools.call.is_some())
}
