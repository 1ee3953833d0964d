use sterna_protocol::capabilities::{ClientCapabilities, ExtensionId};

use crate::failure::Failure;

/// Whether a tool runs as a task: work that is kept in a store, outlives its
/// request and survives the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskMode {
    /// Always. A client that does not declare the tasks extension is refused.
    Always,
    /// Never; the client waits for the answer.
    #[default]
    Never,
    /// For clients that declare the tasks extension. Others wait for the answer.
    Optional,
}

impl TaskMode {
    /// Whether a call of a client that declared `capabilities` becomes a task.
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
}
