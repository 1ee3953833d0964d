//! What a server offers, page by page.

mod book;
mod pages;
mod query;

pub(crate) use book::ToolBook;
pub(crate) use pages::Page;
pub use pages::Pages;
pub(crate) use query::Query;

use sterna_protocol::http::ParamHeaders;
use sterna_protocol::tool::ListToolsResult;

use crate::core::Core;
use crate::error::{Error, printable};

/// Fetches a page of tools and remembers how each is to be called.
pub(crate) async fn tools_page(
    core: &Core,
    cursor: Option<String>,
) -> Result<ListToolsResult, Error> {
    let mut page: ListToolsResult = core.query(Query::ListTools(cursor)).await?;
    if core.wire.transport.has_headers() {
        // HTTP-C9, HTTP-C10: such a tool cannot be called over HTTP.
        page.tools.retain(|tool| {
            let mirrored = ParamHeaders::of(&tool.input_schema);
            match mirrored {
                Ok(mirrored) => {
                    core.tools.put(&tool.name, mirrored);
                    true
                }
                Err(reason) => {
                    let tool = printable(&tool.name);
                    tracing::warn!(tool, %reason, "tool left out: its x-mcp-header is invalid");
                    false
                }
            }
        });
    }
    Ok(page)
}
