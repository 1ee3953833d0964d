//! What a server offers, page by page.

mod book;
mod pages;
mod query;

pub(crate) use book::{Known, ToolBook};
pub(crate) use pages::Page;
pub use pages::Pages;
pub(crate) use query::Query;

use std::sync::Arc;

use sterna_protocol::http::{AnnotationError, ParamHeaders};
use sterna_protocol::legacy::{TaskSupport, ToolExecution};
use sterna_protocol::tool::{ListToolsResult, Tool};

use crate::core::{Core, Spoken};
use crate::error::{Error, printable};
use crate::schema::OutputSchema;

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

fn read(core: &Core, tool: &Tool) -> Result<Known, AnnotationError> {
    let modern = matches!(core.spoken, Spoken::Modern);
    let mirrored = match modern && core.wire.transport.has_headers() {
        true => ParamHeaders::of(&tool.input_schema)?,
        false => ParamHeaders::default(),
    };
    let output = tool.output_schema.as_ref().and_then(OutputSchema::read);
    Ok(Known {
        mirrored,
        output: output.map(|read| read.map(Arc::new)),
        task_only: !modern && is_task_only(tool),
    })
}

/// What 2025-11-25 says about a tool besides.
fn is_task_only(tool: &Tool) -> bool {
    let execution = tool.extra.get("execution");
    let execution: Option<ToolExecution> = execution.and_then(|said| said.decode().ok());
    execution.and_then(|said| said.task_support) == Some(TaskSupport::Required)
}
