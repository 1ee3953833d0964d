//! Listing tools, and learning from the list how each is to be called.

use std::sync::Arc;

use sterna_protocol::http::{AnnotationError, ParamHeaders};
use sterna_protocol::legacy::{TaskSupport, ToolExecution};
use sterna_protocol::tool::{ListToolsResult, Tool};

use super::{Core, Protocol, Query};
use crate::cache::KnownTool;
use crate::error::{Error, printable};
use crate::notifications::Change;
use crate::schema::OutputSchema;

impl Core {
    /// Lists the tools anew until the one that is called turns up; whether it
    /// can be called in another way than before.
    pub(crate) async fn relist_tools(&self, name: &str) -> Result<bool, Error> {
        let before = self.tools.get(name);
        // What is cached is what was wrong.
        self.cache.invalidate(&Change::Tools);
        let mut cursor = None;
        for _ in 0..self.config.max_pages {
            let page = tools_page(self, cursor).await?;
            if page.tools.iter().any(|tool| tool.name == name) {
                break;
            }
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        Ok(self.tools.get(name) != before)
    }
}

/// Fetches a page of tools and remembers how each is to be called.
pub(crate) async fn tools_page(
    core: &Core,
    cursor: Option<String>,
) -> Result<ListToolsResult, Error> {
    let mut page: ListToolsResult = core.page(Query::ListTools(cursor)).await?;
    // HTTP-C9, HTTP-C10: a tool that cannot be called over HTTP is left out.
    page.tools.retain(|tool| match read(core, tool) {
        Ok(known) => {
            core.tools.put(&tool.name, known);
            true
        }
        Err(reason) => {
            let tool = printable(&tool.name);
            tracing::warn!(tool, %reason, "tool left out: its x-mcp-header is invalid");
            false
        }
    });
    Ok(page)
}

fn read(core: &Core, tool: &Tool) -> Result<KnownTool, AnnotationError> {
    let modern = matches!(core.protocol, Protocol::Modern);
    let mirrored = match modern && core.wire.transport.has_headers() {
        true => ParamHeaders::of(&tool.input_schema)?,
        false => ParamHeaders::default(),
    };
    let output = tool.output_schema.as_ref().and_then(OutputSchema::read);
    Ok(KnownTool {
        mirrored,
        output: output.map(|read| read.map(Arc::new)),
        task_only: !modern && is_task_only(tool),
    })
}

/// Returns true if 2025-11-25 requires a task for this tool.
fn is_task_only(tool: &Tool) -> bool {
    let execution = tool.extra.get("execution");
    let execution: Option<ToolExecution> = execution.and_then(|said| said.decode().ok());
    execution.and_then(|said| said.task_support) == Some(TaskSupport::Required)
}
