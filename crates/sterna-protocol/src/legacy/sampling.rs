use super::{RequestMeta, TaskMetadata};
use crate::sampling;

/// Parameters of `sampling/createMessage`, a request of the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageRequestParams {
    /// Messages, limits and preferences.
    pub message: sampling::CreateMessageRequestParams,
    /// Asks the receiver to run the request as a task.
    pub task: Option<TaskMetadata>,
    /// Request metadata (`_meta`).
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
