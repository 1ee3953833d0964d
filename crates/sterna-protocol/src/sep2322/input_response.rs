use crate::input::InputResponses;
use crate::json::JsonObject;
use crate::meta::{RelatedTaskMetadata, RequestMeta};

/// Parameters of `tasks/input_response`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InputResponseRequestParams {
    /// Answers to the questions of the task.
    pub input_responses: InputResponses,
    /// Request metadata (`_meta`), with the id of the task.
    pub meta: InputResponseMeta,
    /// Members this revision does not define.
    pub extra: JsonObject,
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

members!(InputResponseRequestParams {
    required: input_responses = "inputResponses", meta = "_meta";
    rest: extra
});

/// Metadata (`_meta`) of `tasks/input_response`, which names the task.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InputResponseMeta {
    /// The task.
    pub related_task: RelatedTaskMetadata,
    /// All other keys.
    pub extra: JsonObject,
}

members!(InputResponseMeta {
    required: related_task = "io.modelcontextprotocol/related-task";
    rest: extra
});

/// The parameters of `tasks/input_response` as a request of 2026-07-28, whose
/// `_meta` also holds what every request of that revision carries.
///
/// The task is named by `io.modelcontextprotocol/related-task` in `meta`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskInputResponseParams {
    /// Request metadata: protocol version, client info, capabilities, the task.
    pub meta: RequestMeta,
    /// Answers to the questions of the task.
    pub input_responses: InputResponses,
    /// Members this revision does not define.
    pub extra: JsonObject,
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

members!(TaskInputResponseParams {
    required: meta = "_meta", input_responses = "inputResponses";
    rest: extra
});
