use crate::legacy::TaskMetadata;
use crate::tool;

/// Parameters of `tools/call`, which can take several rounds and then run as a
/// task.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallToolRequestParams {
    /// The call, with the answers of the previous round.
    pub call: tool::CallToolRequestParams,
    /// Asks the server to run the call as a task.
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
