//! What the scenarios without a subject of their own do with a server.

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sterna_client::Client;
use sterna_protocol::tool::Tool;

use crate::scenario::Scenario;

/// The one call of `tools_call`.
pub(crate) async fn add(client: &Client) -> Result<()> {
    client.tools().all().await?;
    client.call("add_numbers").arg("a", 5).arg("b", 3).await?;
    Ok(())
}

/// Calls every tool that can be called.
pub(crate) async fn every_tool(client: &Client) -> Result<()> {
    for tool in client.tools().all().await? {
        let arguments = plausible(&tool)?;
        client.call(tool.name).args(arguments).await?;
    }
    Ok(())
}

/// Uses every tool, resource and prompt.
pub(crate) async fn everything(client: &Client) -> Result<()> {
    every_tool(client).await?;
    for resource in client.resources().all().await? {
        client.read(resource.uri).await?;
    }
    for prompt in client.prompts().all().await? {
        client.prompt(prompt.name).await?;
    }
    Ok(())
}

#[derive(Deserialize)]
struct ToolCall {
    name: String,
    arguments: Value,
}

/// The calls that the suite spells out.
pub(crate) async fn scripted(client: &Client, scenario: &Scenario) -> Result<()> {
    client.tools().all().await?;
    for call in scenario.member::<Vec<ToolCall>>("toolCalls")? {
        client.call(call.name).args(call.arguments).await?;
    }
    Ok(())
}

/// Gives the server the schema back that it listed.
pub(crate) async fn echo_schema(client: &Client) -> Result<()> {
    let tools = client.tools().all().await?;
    let tool = tools
        .iter()
        .find(|tool| tool.name == "json_schema_2020_12_tool")
        .context("the tool with the schema is not listed")?;
    client
        .call("json_schema_echo")
        .arg("schema", &tool.input_schema)
        .await?;
    Ok(())
}

/// Calls the tools that ask, one after the other.
pub(crate) async fn rounds(client: &Client) -> Result<()> {
    for tool in [
        "test_mrtr_echo_state",
        "test_mrtr_no_state",
        "test_mrtr_unrelated",
        "test_mrtr_no_result_type",
    ] {
        client.call(tool).args(json!({})).await?;
    }
    Ok(())
}

/// Something for every argument that a tool requires.
fn plausible(tool: &Tool) -> Result<Value> {
    #[derive(Deserialize)]
    struct Schema {
        #[serde(default)]
        properties: Map<String, Value>,
        #[serde(default)]
        required: Vec<String>,
    }
    let schema: Schema = tool.input_schema.decode()?;
    let mut arguments = Map::new();
    for name in schema.required {
        let kind = schema.properties.get(&name).and_then(|s| s.get("type"));
        let value = match kind.and_then(Value::as_str) {
            Some("boolean") => json!(true),
            Some("integer" | "number") => json!(1),
            _ => json!("us-west1"),
        };
        arguments.insert(name, value);
    }
    Ok(Value::Object(arguments))
}
