//! Requests that are in order.

use serde_json::{Value, json};

use crate::offers::RESOURCE;

/// A POST that can be spoilt anywhere.
#[derive(Clone, Debug)]
pub(crate) struct Post {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Post {
    /// A request with the headers that belong to `message`.
    pub(crate) fn of(message: &Value) -> Self {
        Self {
            headers: headers(message),
            body: message.to_string().into_bytes(),
        }
    }

    /// The same headers with another body.
    pub(crate) fn with_body(&self, body: impl Into<Vec<u8>>) -> Self {
        let headers = self.headers.clone();
        Self {
            headers,
            body: body.into(),
        }
    }

    /// The same request with one more header.
    pub(crate) fn and(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same request with another value in a header.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.and(name, value)
    }

    /// The same request without a header.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    /// Everything up to the body, without its length.
    pub(crate) fn head(&self, line: &str) -> String {
        let headers = self.headers.iter();
        let headers = headers.map(|(name, value)| format!("{name}: {value}\r\n"));
        format!("{line}\r\n{}", headers.collect::<String>())
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let length = self.body.len();
        let head = self.head("POST /mcp HTTP/1.1");
        let mut bytes = format!("{head}content-length: {length}\r\n\r\n").into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// A call that needs nothing but a moment.
pub(crate) fn weather() -> Post {
    Post::of(&call(
        "good",
        "get_weather",
        &json!({"location": "New York"}),
    ))
}

pub(crate) fn call(id: &str, tool: &str, arguments: &Value) -> Value {
    message(
        id,
        "tools/call",
        json!({"name": tool, "arguments": arguments}),
    )
}

/// A subscription to what `shout` tells.
pub(crate) fn listen() -> Post {
    let wish = json!({"notifications": {"resourceSubscriptions": [RESOURCE]}});
    Post::of(&message("listener", "subscriptions/listen", wish))
}

pub(crate) fn message(id: &str, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn headers(message: &Value) -> Vec<(String, String)> {
    let method = message["method"].as_str().unwrap_or("tools/call");
    let params = &message["params"];
    let mut headers = vec![
        ("host", "localhost"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", VERSION),
        ("mcp-method", method),
    ];
    let name = params["name"].as_str().or_else(|| params["uri"].as_str());
    headers.extend(name.map(|name| ("mcp-name", name)));
    headers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

const VERSION: &str = "2026-07-28";
