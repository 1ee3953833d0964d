use crate::input::InputResponses;
use crate::json::JsonObject;
use crate::meta::RelatedTaskMetadata;

/// The parameters of `tasks/input_response`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InputResponseRequestParams {
    /// Answers to what the task asks.
    pub input_responses: InputResponses,
    /// Which task it is.
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

/// The `_meta` of `tasks/input_response`, the only place where it names its
/// task.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InputResponseMeta {
    /// The task.
    pub related_task: RelatedTaskMetadata,
    /// Every other key.
    pub extra: JsonObject,
}

members!(InputResponseMeta {
    required: related_task = "io.modelcontextprotocol/related-task";
    rest: extra
});
