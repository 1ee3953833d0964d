//! Checks of a result: its output schema, and the name of the server in it.

use serde_json::Value;
use sterna_protocol::meta::ResultMeta;
use sterna_protocol::tool::CallToolResult;

use crate::catalog::ToolEntry;
use crate::core::Core;
use crate::failure::Failure;

/// Names the server in the result of a tool, and checks its output schema.
pub(crate) fn finish_tool(
    core: &Core,
    name: &str,
    result: &mut CallToolResult,
) -> Result<(), Failure> {
    sign(core, &mut result.meta);
    match core.offers.tools.get(name) {
        Some(tool) => check_output(core, tool, result),
        None => Ok(()),
    }
}

/// Checks a tool's structured content against its output schema.
pub(crate) fn check_output(
    core: &Core,
    tool: &ToolEntry,
    result: &CallToolResult,
) -> Result<(), Failure> {
    let Some(output) = &tool.output else {
        return Ok(());
    };
    if result.is_error == Some(true) {
        return Ok(());
    }
    // TOOL-S12: what was promised is kept, or the call fails and the author hears why.
    let content = result.structured_content.as_ref();
    let content = content.and_then(|content| content.decode::<Value>().ok());
    let checked = match content {
        None => Err("there is no structured content".to_owned()),
        // Names places and rules, never values: no log may hold a result.
        Some(content) => output.check_result(&content),
    };
    checked.map_err(|problem| {
        let name = &tool.wire.name;
        tracing::error!(
            target: "sterna::server",
            tool = name,
            problem,
            "MR0204: a tool broke the promise of its output schema"
        );
        core.mistaken(format_args!(
            "MR0204: the tool `{name}` broke the promise of its output schema: {problem}"
        ))
    })
}

/// Names the server in a result (BASE-S15).
pub(crate) fn sign(core: &Core, meta: &mut Option<ResultMeta>) {
    let meta = meta.get_or_insert_default();
    if meta.server_info.is_none() {
        meta.server_info = Some(core.info.clone().into());
    }
}
