//! Tasks as SEP-2322 proposes them, before they became an extension.
//!
//! They are the tasks of 2025-11-25 (see [`legacy`](crate::legacy)) with one
//! difference: a task that needs input sends no request to the client.
//! `tasks/result` returns its questions, and `tasks/input_response` takes the
//! answers.

use crate::input::InputResponses;
use crate::json::JsonObject;
use crate::jsonrpc::Untagged;
use crate::legacy::{GetTaskPayloadResult, TaskMetadata};
use crate::meta::{RelatedTaskMetadata, RequestMeta};
use crate::result::{EmptyResult, Outcome};
use crate::tasks::TaskRequestParams;
use crate::tool::{self, CallToolResult};

requests! {
    /// Calls a tool, which may run as a task.
    ///
    /// With `task`, the result is a
    /// [`CreateTaskResult`](crate::legacy::CreateTaskResult) of 2025-11-25, or a
    /// question before the task exists.
    CallTool = "tools/call": CallToolRequestParams => Outcome<CallToolResult>,
    /// Waits for the result of a task, or for its next questions.
    GetTaskPayload = "tasks/result": TaskRequestParams => Outcome<GetTaskPayloadResult>,
    /// Answers the questions of a task.
    InputResponse = "tasks/input_response": TaskInputResponseParams => Untagged<EmptyResult>,
}

family! {
    /// Requests about tasks that neither 2026-07-28 nor the tasks extension has.
    ///
    /// A server decodes them beside those two, see [`Or`](crate::methods::Or).
    ClientRequest, ClientMethod: RequestMethod { GetTaskPayload, InputResponse }
}

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
