use super::{RequestMeta, TaskMetadata};
use crate::sampling;

/// The parameters of `sampling/createMessage`, a request of its own.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageRequestParams {
    /// What to write.
    pub message: sampling::CreateMessageRequestParams,
    /// Asks that it be run as a task.
    pub task: Option<TaskMetadata>,
    /// What the request says about itself.
    pub meta: Option<RequestMeta>,
}

impl From<sampling::CreateMessageRequestParams> for CreateMessageRequestParams {
    fn from(message: sampling::CreateMessageRequestParams) -> Self {
        Self {
            message,
            task: None,
            meta: None,
        }
    }
}

members!(CreateMessageRequestParams {
    optional: task = "task", meta = "_meta";
    base: message
});
