//! Revisions with an `initialize` handshake: 2025-11-25, 2025-06-18 and
//! 2025-03-26.
//!
//! Only types that differ from 2026-07-28 are here; content, prompts,
//! resources, results and forms are shared. The two older revisions have no
//! types of their own: each of their messages is a message of 2025-11-25
//! without members that are optional there:
//!
//! | revision | missing |
//! |---|---|
//! | 2025-06-18 | tasks, URL elicitation, sampling with tools, icons, `mode`, lists of content in sampling |
//! | 2025-03-26 | elicitation, structured content, resource links, titles, `_meta` on parts of messages |
//!
//! JSON-RPC batches, which only 2025-03-26 has, are not messages. A server of
//! that revision splits them and decodes each message separately.

mod capabilities;
mod elicitation;
mod initialize;
mod meta;
mod methods;
mod requests;
mod tasks;
mod tool;

pub use capabilities::{
    ClientCapabilities, ClientTaskRequests, ClientTasksCapability, ElicitationTasks,
    RootsCapability, SamplingTasks, ServerCapabilities, ServerTaskRequests, ServerTasksCapability,
    ToolTasks,
};
pub use elicitation::{
    ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams,
    ElicitationCompleteNotificationParams, UrlElicitationRequired,
};
pub use initialize::{InitializeRequestParams, InitializeResult};
pub use meta::{CancelledNotificationParams, RequestMeta, RequestParams};
pub use methods::{
    CallTool, CancelTask, Cancelled, ClientMethod, ClientNotification, ClientNotificationMethod,
    ClientRequest, CompleteArgument, CreateMessage, Elicit, ElicitationComplete, GetPrompt,
    GetTask, GetTaskPayload, Initialize, Initialized, ListPrompts, ListResourceTemplates,
    ListResources, ListRoots, ListTasks, ListTools, LoggingMessage, Ping, Progress,
    PromptListChanged, ReadResource, ResourceListChanged, ResourceUpdated, RootsListChanged,
    ServerMethod, ServerNotification, ServerNotificationMethod, ServerRequest, SetLevel, Subscribe,
    TaskStatusChanged, ToolListChanged, Unsubscribe,
};
pub use requests::{
    CompleteRequestParams, CreateMessageRequestParams, GetPromptRequestParams,
    PaginatedRequestParams, ResourceRequestParams, SetLevelRequestParams,
};
pub use tasks::{
    CreateTaskResult, GetTaskPayloadResult, ListTasksResult, Task, TaskMetadata, TaskRequestParams,
    TaskResult, TaskStatusNotificationParams,
};
pub use tool::{CallToolRequestParams, ListToolsResult, TaskSupport, Tool, ToolExecution};
