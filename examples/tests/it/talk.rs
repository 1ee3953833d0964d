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
    post(address, tool, &body.to_string()).await
}

async fn post(address: &str, name: &str, body: &str) -> Reply {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect("a whole answer");
    Reply {
        message: serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}")),
        head: head.to_owned(),
    }
}
