//! Runs the cases with the official Rust SDK's client; one JSON line for each.
//!
//! ```text
//! $ client CASES URL modern|legacy
//! ```
#![allow(deprecated, reason = "sampling and roots are part of the contract")]

use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use rmcp::model::*;
use rmcp::service::{RequestContext, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let mut next = || args.next().context("usage: client CASES URL modern|legacy");
    let script: Value = serde_json::from_str(&std::fs::read_to_string(next()?)?)?;
    let transport = StreamableHttpClientTransport::from_uri(next()?);
    let lifecycle = match next()?.as_str() {
        "modern" => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
        _ => ClientLifecycleMode::Initialize,
    };
    let action = Arc::new(Mutex::new("accept".to_owned()));
    let person = Person {
        answers: script["answers"].clone(),
        action: Arc::clone(&action),
    };
    let client = person.serve_with_lifecycle(transport, lifecycle).await?;
    for case in script["cases"].as_array().context("no cases")? {
        *action.lock().expect("no case panics with it") =
            case["action"].as_str().unwrap_or("accept").to_owned();
        let mut line = json!({"id": case["id"]});
        match run(&client, case).await {
            Ok(got) => line["got"] = got.into(),
            Err(error) => line["error"] = format!("{error:#}").into(),
        }
        println!("{line}");
    }
    client.cancel().await?;
    Ok(())
}

type Client = RunningService<RoleClient, Person>;

async fn run(client: &Client, case: &Value) -> Result<String> {
    let arguments = case["arguments"].as_object().cloned();
    let mut names: Vec<String> = match case["list"].as_str() {
        Some("tools") => {
            let tools = client.list_all_tools().await?;
            tools.into_iter().map(|tool| tool.name.into()).collect()
        }
        Some("prompts") => {
            let prompts = client.list_all_prompts().await?;
            prompts.into_iter().map(|prompt| prompt.name).collect()
        }
        Some(_) => {
            let templates = client.list_all_resource_templates().await?;
            templates.into_iter().map(|t| t.uri_template).collect()
        }
        None => Vec::new(),
    };
    if !names.is_empty() {
        names.sort();
        return Ok(names.join(" "));
    }
    let (result, path) = if let Some(name) = case["prompt"].as_str() {
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = arguments;
        let result = serde_json::to_value(client.get_prompt(params).await?)?;
        (result, "/messages/0/content/text")
    } else if let Some(uri) = case["resource"].as_str() {
        let result = client
            .read_resource(ReadResourceRequestParams::new(uri))
            .await?;
        (serde_json::to_value(result)?, "/contents/0/text")
    } else {
        let name = case["tool"].as_str().context("a case without a subject")?;
        let mut params = CallToolRequestParams::new(name.to_owned());
        params.arguments = arguments;
        let result = serde_json::to_value(client.call_tool(params).await?)?;
        (result, "/content/0/text")
    };
    let text = result
        .pointer(path)
        .and_then(Value::as_str)
        .context("no text")?;
    let prefix = if result["isError"] == true {
        "isError: "
    } else {
        ""
    };
    Ok(format!("{prefix}{text}"))
}

/// Whoever answers the questions: always the same, as the script says.
struct Person {
    answers: Value,
    action: Arc<Mutex<String>>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities = json!({
            "elicitation": {"form": {}, "url": {}},
            "sampling": {},
            "roots": {},
        });
        let capabilities = serde_json::from_value(capabilities).expect("capabilities");
        ClientConfig::new(capabilities, Implementation::new("interop-rmcp", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let action = self.action.lock().expect("no case panics with it").clone();
        let request = serde_json::to_value(request).expect("JSON");
        let mut answer = json!({"action": action});
        if action == "accept" && request["mode"] != "url" {
            let mut content = json!({});
            let asked = request["requestedSchema"]["properties"].as_object();
            for key in asked.into_iter().flatten().map(|(key, _)| key) {
                if let Some(value) = self.answers["fields"].get(key) {
                    content[key] = value.clone();
                }
            }
            answer["content"] = content;
        }
        Ok(serde_json::from_value(answer).expect("an elicitation result"))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let text = self.answers["sample"].as_str().unwrap_or_default();
        let message = SamplingMessage::assistant_text(text);
        Ok(CreateMessageResult::new(message, "scripted".to_owned()))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        let roots = json!({"roots": self.answers["roots"]});
        Ok(serde_json::from_value(roots).expect("roots"))
    }
}
