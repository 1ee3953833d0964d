//! A client of a server in this process.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use sterna_server::http::HttpServer;
use sterna_server::{Mcp, Service};
use tokio::task::JoinSet;
use tower_service::Service as _;

/// A client of a server in this process, without a socket in between.
#[derive(Clone)]
pub(crate) struct Client(HttpServer<Mcp>);

impl Client {
    pub(crate) fn of(service: Service) -> Result<Self> {
        Ok(Self(service.into_tower()?))
    }

    /// Creates `count` tasks, `callers` at a time; gives the id of the last.
    pub(crate) async fn create(
        &self,
        tool: &'static str,
        count: u32,
        callers: u32,
    ) -> Result<String> {
        let mut set = JoinSet::new();
        for caller in 0..callers {
            let client = self.clone();
            set.spawn(async move {
                let mut last = String::new();
                let text = "a".repeat(400);
                for _ in (caller..count).step_by(usize::try_from(callers)?) {
                    let params = json!({"name": tool, "arguments": {"text": text}});
                    let created = client
                        .send(Dialect::Extension, "tools/call", tool, params)
                        .await?;
                    let task = created["taskId"].as_str();
                    last = task
                        .with_context(|| format!("no task: {created}"))?
                        .to_owned();
                }
                anyhow::Ok(last)
            });
        }
        let mut last = String::new();
        for created in set.join_all().await {
            last = created?;
        }
        Ok(last)
    }

    pub(crate) async fn status(&self, task: &str) -> Result<String> {
        let params = json!({"taskId": task});
        let shown = self
            .send(Dialect::Extension, "tasks/get", task, params)
            .await?;
        Ok(shown["status"].as_str().unwrap_or_default().to_owned())
    }

    /// Has a task run from its call to its result.
    ///
    /// Requests are those of SEP-2322, in which a client waits for the end of a
    /// task: one that polls would measure its pauses.
    pub(crate) async fn run_to_result(&self, tool: &str, text: &str) -> Result<()> {
        let task = self.begin(tool, text).await?;
        self.result(&task).await.map(drop)
    }

    /// Has a task ask, and answers. Returns when the answer was sent.
    pub(crate) async fn answer_question(&self, text: &str) -> Result<Instant> {
        let task = self.begin("ask", text).await?;
        let asked = self.result(&task).await?;
        let is_asking = asked["resultType"] == "input_required";
        ensure!(is_asking, "no question: {asked}");
        let answer = json!({"action": "accept", "content": {"name": "Ada"}});
        let params = json!({
            "inputResponses": {"name": answer},
            "_meta": {"io.modelcontextprotocol/related-task": {"taskId": task}},
        });
        let sent = Instant::now();
        let method = "tasks/input_response";
        self.send(Dialect::Sep2322, method, &task, params).await?;
        self.result(&task).await?;
        Ok(sent)
    }

    async fn begin(&self, tool: &str, text: &str) -> Result<String> {
        let params = json!({"name": tool, "arguments": {"text": text}, "task": {}});
        let begun = self
            .send(Dialect::Sep2322, "tools/call", tool, params)
            .await?;
        let task = begun["task"]["taskId"].as_str();
        Ok(task
            .with_context(|| format!("no task: {begun}"))?
            .to_owned())
    }

    /// The question or the result of a task, when there is one.
    async fn result(&self, task: &str) -> Result<Value> {
        let params = json!({"taskId": task});
        self.send(Dialect::Sep2322, "tasks/result", task, params)
            .await
    }

    async fn send(
        &self,
        dialect: Dialect,
        method: &str,
        name: &str,
        mut params: Value,
    ) -> Result<Value> {
        let extensions = match dialect {
            Dialect::Extension => json!({"io.modelcontextprotocol/tasks": {}}),
            Dialect::Sep2322 => json!({}),
        };
        let meta = &mut params["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
        meta["io.modelcontextprotocol/clientCapabilities"] =
            json!({"elicitation": {"form": {}}, "extensions": extensions});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut headers = HeaderMap::new();
        for (header, value) in [
            ("host", "localhost"),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
            ("mcp-name", name),
        ] {
            headers.insert(header, HeaderValue::from_str(value)?);
        }
        let mut request = Request::post("/mcp").body(Full::new(Bytes::from(body.to_string())))?;
        *request.headers_mut() = headers;
        let response = self.0.clone().call(request).await?;
        let body = response.into_body().collect().await?.to_bytes();
        let mut message: Value = serde_json::from_slice(&body)?;
        ensure!(message.get("result").is_some(), "{method}: {message}");
        Ok(message["result"].take())
    }
}

/// The tasks that a request speaks of.
#[derive(Clone, Copy)]
enum Dialect {
    Extension,
    Sep2322,
}
