//! Results: content is text, and images only on a click.

use maud::{Markup, html};
use serde_json::Value;

use super::{shorten, size};

/// A result of any of the three kinds. `address` is where an image is shown.
pub(crate) fn result(result: &Value, address: &str) -> Markup {
    let blocks = content_of(result);
    let structured = result.get("structuredContent");
    html! {
        @if blocks.is_empty() && structured.is_none() { p.dim { "The result has no content." } }
        @for (at, block) in blocks.iter().enumerate().take(MOST_BLOCKS) {
            (content(block, &format!("{address}/image?block={at}")))
        }
        @if blocks.len() > MOST_BLOCKS {
            p.dim { "and " (blocks.len() - MOST_BLOCKS) " more" }
        }
        @if let Some(structured) = structured {
            h3 { "Structured content" }
            pre tabindex="0" { (json(structured)) }
        }
        details {
            summary { "The result as JSON" }
            pre tabindex="0" { (json(result)) }
        }
    }
}

/// Every block of a result: content, messages of a prompt, or contents of a
/// resource.
fn content_of(result: &Value) -> Vec<Value> {
    let listed = |name: &str| result.get(name).and_then(Value::as_array).cloned();
    if let Some(messages) = listed("messages") {
        let content = |message: Value| {
            let mut block = message.get("content").cloned().unwrap_or_default();
            if let (Some(block), Some(role)) = (block.as_object_mut(), message.get("role")) {
                block.insert("role".to_owned(), role.clone());
            }
            block
        };
        return messages.into_iter().map(content).collect();
    }
    listed("content")
        .or_else(|| listed("contents"))
        .unwrap_or_default()
}

fn content(block: &Value, image: &str) -> Markup {
    let text = |name: &str| block.get(name).and_then(Value::as_str);
    let kind = text("type").unwrap_or_else(|| match (text("text"), text("blob")) {
        (Some(_), _) => "text",
        (None, Some(_)) => "blob",
        (None, None) => "content",
    });
    let label = html! {
        @if let Some(role) = text("role") { span.tag { (shorten(role, 40)) } " " }
        @if let Some(uri) = text("uri") { code { (shorten(uri, 500)) } " " }
        @if let Some(mime) = text("mimeType") { span.tag { (shorten(mime, 100)) } }
    };
    html! {
        div.block {
            @if text("role").is_some() || text("uri").is_some() || text("mimeType").is_some() {
                p.dim { (label) }
            }
            @match (kind, text("text")) {
                ("text", Some(text)) => pre.text tabindex="0" { (shorten(text, LONGEST)) },
                ("image", _) => {
                    p {
                        "An image of " (size(text("data").map_or(0, str::len) * 3 / 4)) ". "
                        @if image_type(text("mimeType").unwrap_or_default()).is_some() {
                            a href=(image) target="_blank" rel="noopener" { "Show it on a page of its own, without scripts" }
                        } @else {
                            "It is of a type that is not shown."
                        }
                    }
                }
                _ => pre tabindex="0" { (json(block)) },
            }
        }
    }
}

/// An image in a result, as its type and its base64.
pub(crate) fn image_of(result: &Value, block: usize) -> Option<(&'static str, String)> {
    let block = content_of(result).into_iter().nth(block)?;
    let kind = image_type(block.get("mimeType")?.as_str()?)?;
    let data = block.get("data")?.as_str()?.to_owned();
    Some((kind, data))
}

/// Types that are shown. An SVG is a document and is not.
fn image_type(mime: &str) -> Option<&'static str> {
    ["image/png", "image/jpeg", "image/gif", "image/webp"]
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(mime))
}

pub(crate) fn json(value: &Value) -> String {
    shorten(&format!("{value:#}"), LONGEST)
}

/// Characters of one block.
const LONGEST: usize = 50_000;

const MOST_BLOCKS: usize = 100;
