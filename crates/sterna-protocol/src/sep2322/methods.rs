use super::{CallToolRequestParams, TaskInputResponseParams};
use crate::jsonrpc::Untagged;
use crate::legacy::GetTaskPayloadResult;
use crate::result::{EmptyResult, Outcome};
use crate::tasks::TaskRequestParams;
use crate::tool::CallToolResult;

requests! {
    /// Calls a tool, which may run as a task.
    ///
    /// With `task`, the result is a
    /// [`CreateTaskResult`](crate::legacy::CreateTaskResult) of 2025-11-25, or
    /// a question before the task exists.
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
