use super::{RequestMeta, TaskMetadata};
use crate::json::{JsonObject, OtherName, RawObject};
use crate::meta::ResultMeta;
use crate::tool;

/// Parameters of `tools/call`.
///
/// With `task`, the result is a [`CreateTaskResult`](super::CreateTaskResult).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallToolRequestParams {
    /// Name of the tool.
    pub name: String,
    /// Arguments, as the client wrote them.
    pub arguments: Option<RawObject>,
    /// Asks the server to run the call as a task.
    pub task: Option<TaskMetadata>,
    /// Request metadata (`_meta`).
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CallToolRequestParams {
    /// Calls the tool `name` without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: None,
            task: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(CallToolRequestParams {
    required: name = "name";
    optional: arguments = "arguments", task = "task", meta = "_meta";
    rest: extra
});

/// Definition of a tool, with its task support.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// Members that all revisions define.
    pub tool: tool::Tool,
    /// Execution properties, such as task support.
    pub execution: Option<ToolExecution>,
}

impl From<tool::Tool> for Tool {
    fn from(tool: tool::Tool) -> Self {
        Self {
            tool,
            execution: None,
        }
    }
}

members!(Tool {
    optional: execution = "execution";
    base: tool
});

/// Execution properties of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolExecution {
    /// Task support; forbidden if missing.
    pub task_support: Option<TaskSupport>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ToolExecution {
    optional: task_support = "taskSupport";
    rest: extra
});

/// Task support of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskSupport {
    /// Calls cannot run as tasks.
    Forbidden,
    /// Calls can run as tasks.
    Optional,
    /// Calls run as tasks only.
    Required,
    /// Value that this revision does not define.
    Other(OtherName),
}

names!(TaskSupport {
    Forbidden = "forbidden",
    Optional = "optional",
    Required = "required",
});

/// Result of `tools/list`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListToolsResult {
    /// Tools of this page.
    pub tools: Vec<Tool>,
    /// Cursor of the next page; `None` on the last one.
    pub next_cursor: Option<String>,
    /// Result metadata (`_meta`).
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ListToolsResult {
    /// Creates the last page.
    pub fn new(tools: Vec<Tool>) -> Self {
        Self {
            tools,
            next_cursor: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ListToolsResult {
    required: tools = "tools";
    optional: next_cursor = "nextCursor", meta = "_meta";
    rest: extra
});
