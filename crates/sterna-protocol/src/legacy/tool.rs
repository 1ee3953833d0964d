use super::{RequestMeta, TaskMetadata};
use crate::json::{OtherName, RawObject};
use crate::meta::ResultMeta;
use crate::tool;

wire! {
    /// Parameters of `tools/call`.
    ///
    /// With `task`, the result is a
    /// [`CreateTaskResult`](super::CreateTaskResult).
    pub struct CallToolRequestParams {
        required {
            /// Name of the tool.
            name: String = "name",
        }
        optional {
            /// Arguments, as the client wrote them.
            arguments: Option<RawObject> = "arguments",
            /// Asks the server to run the call as a task.
            task: Option<TaskMetadata> = "task",
            /// Request metadata (`_meta`).
            meta: Option<RequestMeta> = "_meta",
        }
    }

    /// Calls the tool `name` without arguments.
    new(name: impl Into<String>);
}

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

wire! {
    /// Execution properties of a tool.
    #[derive(Default)]
    pub struct ToolExecution {
        optional {
            /// Task support; forbidden if missing.
            task_support: Option<TaskSupport> = "taskSupport",
        }
    }
}

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

wire! {
    /// Result of `tools/list`.
    pub struct ListToolsResult {
        required {
            /// Tools of this page.
            tools: Vec<Tool> = "tools",
        }
        optional {
            /// Cursor of the next page; `None` on the last one.
            next_cursor: Option<String> = "nextCursor",
            /// Result metadata (`_meta`).
            meta: Option<ResultMeta> = "_meta",
        }
    }

    /// Creates the last page.
    new(tools: Vec<Tool>);
}
