use crate::input::InputResponses;
use crate::json::JsonObject;
use crate::meta::{RelatedTaskMetadata, RequestMeta};

wire! {
    /// Parameters of `tasks/input_response`.
    pub struct InputResponseRequestParams {
        required {
            /// Answers to the questions of the task.
            input_responses: InputResponses = "inputResponses",
            /// Request metadata (`_meta`), with the id of the task.
            meta: InputResponseMeta = "_meta",
        }
    }
}

impl InputResponseRequestParams {
    /// Answers the task `task_id`.
    pub fn new(task_id: impl Into<String>, input_responses: InputResponses) -> Self {
        Self {
            input_responses,
            meta: InputResponseMeta {
                related_task: RelatedTaskMetadata::new(task_id),
                extra: JsonObject::new(),
            },
            extra: JsonObject::new(),
        }
    }
}

wire! {
    /// Metadata (`_meta`) of `tasks/input_response`, which names the task.
    pub struct InputResponseMeta {
        required {
            /// The task.
            related_task: RelatedTaskMetadata = "io.modelcontextprotocol/related-task",
        }
    }
}

wire! {
    /// Parameters of `tasks/input_response` as a request of 2026-07-28, whose
    /// `_meta` also holds what every request of that revision carries.
    ///
    /// The task is named by `io.modelcontextprotocol/related-task` in `meta`.
    pub struct TaskInputResponseParams {
        required {
            /// Request metadata: protocol version, client info, capabilities, the
            /// task.
            meta: RequestMeta = "_meta",
            /// Answers to the questions of the task.
            input_responses: InputResponses = "inputResponses",
        }
    }
}

impl TaskInputResponseParams {
    /// Reads the task that the answers are for; `None` if `meta` names none.
    pub fn related_task(&self) -> Option<RelatedTaskMetadata> {
        let task = self
            .meta
            .extra
            .get("io.modelcontextprotocol/related-task")?;
        task.decode().ok()
    }
}
