use super::{RequestMeta, TaskMetadata};
use crate::json::{JsonObject, OtherName, RawObject};
use crate::meta::ResultMeta;
use crate::tool;

/// The parameters of `tools/call`.
///
/// With `task`, the answer is a [`CreateTaskResult`](super::CreateTaskResult).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallToolRequestParams {
    /// The tool.
    pub name: String,
    /// Its arguments, as the client wrote them.
    pub arguments: Option<RawObject>,
    /// Asks that the call be run as a task.
    pub task: Option<TaskMetadata>,
    /// What the request says about itself.
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

/// Something a server can do, and whether it can do it as a task.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// What every revision knows.
    pub tool: tool::Tool,
    /// How it can be run.
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

/// How a tool can be run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolExecution {
    /// Whether as a task; not, if nothing is said.
    pub task_support: Option<TaskSupport>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ToolExecution {
    optional: task_support = "taskSupport";
    rest: extra
});

/// Whether a tool can be run as a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskSupport {
    /// It cannot.
    Forbidden,
    /// It can.
    Optional,
    /// It can be run no other way.
    Required,
    /// Something this revision does not define.
    Other(OtherName),
}

names!(TaskSupport {
    Forbidden = "forbidden",
    Optional = "optional",
    Required = "required",
});

/// The result of `tools/list`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListToolsResult {
    /// One page of tools.
    pub tools: Vec<Tool>,
    /// Where the next page begins; `None` after the last one.
    pub next_cursor: Option<String>,
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ListToolsResult {
    /// A page without a successor.
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
