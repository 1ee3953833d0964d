use super::{CallToolRequestParams, InputResponseRequestParams};
use crate::jsonrpc::Untagged;
use crate::legacy::{GetTaskPayloadResult, TaskRequestParams};
use crate::result::{EmptyResult, Outcome};
use crate::tool::CallToolResult;

requests! {
    /// Has a tool do something.
    ///
    /// With `task`, the answer is a
    /// [`CreateTaskResult`](crate::legacy::CreateTaskResult) of 2025-11-25, or
    /// a question before there is a task.
    CallTool = "tools/call": CallToolRequestParams => Outcome<CallToolResult>,
    /// Asks what came of a task, or what it asks.
    GetTaskPayload = "tasks/result": TaskRequestParams => Outcome<GetTaskPayloadResult>,
    /// Answers what a task asks.
    InputResponse = "tasks/input_response": InputResponseRequestParams => Untagged<EmptyResult>,
}

family! {
    /// What a client asks a server about its tasks, where it differs from
    /// 2025-11-25.
    #[expect(clippy::large_enum_variant, reason = "taken apart as soon as it is read")]
    ClientRequest, ClientMethod: Request { CallTool, GetTaskPayload, InputResponse }
}
