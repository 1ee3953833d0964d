//! Tools that show every kind of content and every kind of schema.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sterna_protocol::content::{AudioContent, ContentBlock, EmbeddedResource, ImageContent};
use sterna_server::{Cx, Server, Tool, ToolError};

pub(crate) fn offer(server: Server) -> Server {
    server
        .tool("test_simple_text", "Says one thing", simple_text)
        .tool("test_image_content", "Shows a picture", image)
        .tool("test_audio_content", "Plays a sound", audio)
        .tool("test_embedded_resource", "Hands over a resource", embedded)
        .tool(
            "test_multiple_content_types",
            "Says it in three ways",
            mixed,
        )
        .tool("test_error_handling", "Fails on purpose", failing)
        .tool(
            "test_x_mcp_header",
            "Has an argument that is mirrored",
            mirrored,
        )
        .offer(
            Tool::new("json_schema_2020_12_tool", "Has a demanding schema", any)
                .input_schema(demanding_schema()),
        )
}

async fn simple_text(_: Cx<'_>, (): ()) -> &'static str {
    "This is a simple text response for testing."
}

async fn image(_: Cx<'_>, (): ()) -> ContentBlock {
    picture()
}

async fn audio(_: Cx<'_>, (): ()) -> ContentBlock {
    ContentBlock::Audio(AudioContent::from_base64(WAV, "audio/wav"))
}

async fn embedded(_: Cx<'_>, (): ()) -> ContentBlock {
    resource(
        "test://embedded-resource",
        "text/plain",
        "This is an embedded resource content.",
    )
}

async fn mixed(_: Cx<'_>, (): ()) -> Vec<ContentBlock> {
    vec![
        ContentBlock::text("Multiple content types test:"),
        picture(),
        resource(
            "test://mixed-content-resource",
            "application/json",
            r#"{"test":"data","value":123}"#,
        ),
    ]
}

async fn failing(_: Cx<'_>, (): ()) -> Result<String, ToolError> {
    Err(ToolError::new(
        "This tool intentionally returns an error for testing",
    ))
}

#[derive(Deserialize, JsonSchema)]
struct Mirrored {
    /// Where to look
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

async fn mirrored(_: Cx<'_>, args: Mirrored) -> String {
    format!("region {}", args.region)
}

async fn any(_: Cx<'_>, args: Map<String, Value>) -> String {
    format!("{} arguments", args.len())
}

fn demanding_schema() -> Map<String, Value> {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    schema.as_object().cloned().unwrap_or_default()
}

pub(crate) fn picture() -> ContentBlock {
    ContentBlock::Image(ImageContent::from_base64(PNG, "image/png"))
}

pub(crate) fn resource(uri: &str, mime_type: &str, text: &str) -> ContentBlock {
    ContentBlock::Resource(EmbeddedResource::text(uri, mime_type, text))
}

/// One red pixel.
pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// Two samples of silence.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";
