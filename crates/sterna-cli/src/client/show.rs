//! Results for people.

use sterna_protocol::content::ContentBlock;
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::resource::{ReadResourceResult, ResourceContents};
use sterna_protocol::tool::CallToolResult;

use crate::text::{Text, one_line, printable};

pub(super) fn tool_result(result: &CallToolResult) -> Text {
    let mut text: String = result.content.iter().map(block).collect();
    if let (true, Some(structured)) = (result.content.is_empty(), &result.structured_content) {
        text = line(structured.as_str());
    }
    match result.is_error {
        Some(true) => Text::bad("the tool returned an error") + "\n" + text,
        _ => text.into(),
    }
}

pub(super) fn prompt_result(result: &GetPromptResult) -> Text {
    let messages = result.messages.iter();
    let messages = messages.map(|message| {
        let role = one_line(&message.role.to_string());
        Text::bold(role) + "\n" + block(&message.content)
    });
    messages.collect()
}

pub(super) fn resource_result(result: &ReadResourceResult) -> String {
    result.contents.iter().map(contents).collect()
}

fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(content) => line(&content.text),
        ContentBlock::Image(content) => data(&content.mime_type, &content.data),
        ContentBlock::Audio(content) => data(&content.mime_type, &content.data),
        ContentBlock::ResourceLink(link) => line(&format!("({})", one_line(&link.resource.uri))),
        ContentBlock::Resource(embedded) => contents(&embedded.resource),
        ContentBlock::Other(other) => format!("({})\n", one_line(other.kind())),
        _ => "(something that this release does not know)\n".to_owned(),
    }
}

fn contents(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::Text(text) => line(&text.text),
        ResourceContents::Blob(blob) => {
            data(blob.mime_type.as_deref().unwrap_or("binary"), &blob.blob)
        }
    }
}

/// Bytes are for programs: `--json` has them.
fn data(mime_type: &str, base64: &str) -> String {
    let bytes = base64.trim_end_matches('=').len() * 3 / 4;
    format!(
        "({}, {bytes} bytes; --json shows them)\n",
        one_line(mime_type)
    )
}

fn line(text: &str) -> String {
    let text = printable(text);
    format!("{}\n", text.trim_end_matches('\n'))
}
