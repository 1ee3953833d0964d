//! A client of the fewest lines: one request per connection.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) head: String,
    pub(crate) message: Value,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        });
        found.expect("the header")
    }

    #[track_caller]
    pub(crate) fn result(&self) -> &Value {
        self.message
            .get("result")
            .unwrap_or_else(|| panic!("{self:?}"))
    }
}

/// Calls a tool of the server at `address`; `more` goes into the parameters.
pub(crate) async fn call(address: &str, tool: &str, arguments: &Value, more: Value) -> Reply {
    let mut params = json!({
        "name": tool,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        },
    });
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", tool),
    ];
    post(address, &headers, &body).await
}

/// A session of 2025-11-25.
#[derive(Debug)]
pub(crate) struct Session {
    address: String,
    id: String,
}

impl Session {
    /// Opens a session; says also what the server answered.
    pub(crate) async fn open(address: &str) -> (Self, Reply) {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "old", "version": "1"},
        });
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let reply = post(address, &[], &body).await;
        let session = Self {
            address: address.to_owned(),
            id: reply.header("mcp-session-id").to_owned(),
        };
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        session.send(&initialized).await;
        (session, reply)
    }

    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Reply {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
            .await
    }

    async fn send(&self, body: &Value) -> Reply {
        let headers = [
            ("MCP-Protocol-Version", "2025-11-25"),
            ("Mcp-Session-Id", &*self.id),
        ];
        post(&self.address, &headers, body).await
    }
}

async fn post(address: &str, headers: &[(&str, &str)], body: &Value) -> Reply {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = body.to_string();
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect("a whole answer");
    let message = match body {
        // A notification is only accepted.
        "" => Value::Null,
        body => serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}")),
    };
    Reply {
        message,
        head: head.to_owned(),
    }
}
