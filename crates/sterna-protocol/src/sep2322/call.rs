use crate::legacy::TaskMetadata;
use crate::tool;

/// The parameters of `tools/call`: rounds first, then perhaps a task.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallToolRequestParams {
    /// The call, with the answers of the round before.
    pub call: tool::CallToolRequestParams,
    /// Asks that the call be run as a task.
    pub task: Option<TaskMetadata>,
}

impl From<tool::CallToolRequestParams> for CallToolRequestParams {
    fn from(call: tool::CallToolRequestParams) -> Self {
        Self { call, task: None }
    }
}

members!(CallToolRequestParams {
    optional: task = "task";
    base: call
});
