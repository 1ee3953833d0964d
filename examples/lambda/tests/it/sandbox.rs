//! A process of the function, which can be frozen and killed.

use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::runtime_api::RuntimeApi;

pub(crate) struct Sandbox {
    child: Child,
    api: RuntimeApi,
    /// Time from the start of the process to its first request for an event.
    pub(crate) init: Duration,
}

impl Sandbox {
    pub(crate) async fn start(keys: &Path, database: &str) -> Self {
        let api = RuntimeApi::start().await;
        let begun = Instant::now();
        let child = Command::new(env!("CARGO_BIN_EXE_lambda"))
            .env("AWS_LAMBDA_RUNTIME_API", api.address.to_string())
            .env("AWS_LAMBDA_FUNCTION_NAME", "mcp")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "1")
            .env("AWS_LAMBDA_LOG_GROUP_NAME", "mcp")
            .env("AWS_LAMBDA_LOG_STREAM_NAME", "1")
            .env("DATABASE_URL", database)
            .env("MCP_HOST", HOST)
            .env("MCP_KEY_FILE", keys)
            .spawn()
            .unwrap();
        let started = tokio::time::timeout(Duration::from_secs(30), api.asked());
        started.await.expect("the function starts");
        let init = begun.elapsed();
        Self { child, api, init }
    }

    pub(crate) fn id(&self) -> String {
        self.child.id().to_string()
    }

    /// Freezes the process, as Lambda does between two invocations.
    pub(crate) fn freeze(&self) {
        self.signal("-STOP");
    }

    pub(crate) fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.id()]).status();
        assert!(sent.unwrap().success());
    }

    /// Sends a request for `method` of MCP and returns its result or its error.
    pub(crate) async fn request(&self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": {"form": {}},
                "extensions": {"io.modelcontextprotocol/tasks": {}},
            },
        });
        let name = params.get("name").or_else(|| params.get("taskId"));
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut event = http_event(&body.to_string());
        event["headers"]["mcp-method"] = json!(method);
        if let Some(name) = name {
            event["headers"]["mcp-name"] = name.clone();
        }
        let response = self.api.invoke(event).await.unwrap();
        let body: Value = serde_json::from_str(response["body"].as_str().unwrap()).unwrap();
        body.get("result")
            .or_else(|| body.get("error"))
            .unwrap()
            .clone()
    }

    /// Invokes the function as a schedule does.
    pub(crate) async fn tick(&self, seconds: u64) -> Value {
        self.api
            .invoke(json!({"work_seconds": seconds}))
            .await
            .unwrap()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // A frozen process can be killed, too.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Event of a function URL or an HTTP API, in version 2.0 of its format.
fn http_event(body: &str) -> Value {
    json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": "/mcp",
        "rawQueryString": "",
        "headers": {
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            "host": HOST,
            "mcp-protocol-version": "2026-07-28",
        },
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "mcp",
            "domainName": HOST,
            "domainPrefix": "mcp",
            "http": {
                "method": "POST",
                "path": "/mcp",
                "protocol": "HTTP/1.1",
                "sourceIp": "203.0.113.7",
                "userAgent": "test",
            },
            "requestId": "1",
            "routeKey": "$default",
            "stage": "$default",
            "time": "18/Nov/2026:10:00:00 +0000",
            "timeEpoch": 1_795_000_000_000_u64,
        },
        "body": body,
        "isBase64Encoded": false,
    })
}

const HOST: &str = "mcp.lambda-url.eu-north-1.on.aws";
