//! One request over one connection.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Why a request has no result. Whether it was served is not known.
#[derive(Debug)]
pub(crate) enum NoResult {
    /// The peer was killed, stopped or too slow.
    NoAnswer,
    /// The peer answered with an error.
    Refused(Value),
}

impl NoResult {
    /// Returns whether the server says that the caller has no such task.
    pub(crate) fn is_unknown_task(&self) -> bool {
        matches!(self, Self::Refused(error) if error["message"] == "Unknown task")
    }
}

/// Sends a request and gives its result.
pub(crate) fn send(to: SocketAddr, method: &str, params: Value) -> Result<Value, NoResult> {
    let answered = exchange(to, method, params);
    let mut message = answered.map_err(|_| NoResult::NoAnswer)?;
    match message.get_mut("result") {
        Some(result) => Ok(result.take()),
        None => Err(NoResult::Refused(message["error"].take())),
    }
}

fn exchange(to: SocketAddr, method: &str, mut params: Value) -> Result<Value> {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {
            "elicitation": {"form": {}},
            "extensions": {"io.modelcontextprotocol/tasks": {}},
        },
    });
    let name = params.get("name").or_else(|| params.get("taskId"));
    let name = name.and_then(Value::as_str).unwrap_or_default().to_owned();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\nmcp-name: {name}\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect_timeout(&to, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (_, body) = answer.split_once("\r\n\r\n").context("no answer")?;
    serde_json::from_str(body).context("no document")
}

/// Shorter than an instance is stopped for, so that clients go elsewhere.
const PATIENCE: Duration = Duration::from_secs(2);
