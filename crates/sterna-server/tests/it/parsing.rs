//! Messages are parsed once.
//!
//! An escape in a JSON text costs the parser a few allocations each time it
//! comes past. A request that is spelled with escapes must therefore cost the
//! server as many more allocations as it costs one decoding, and none besides.

use std::sync::Arc;

use allocation_counter::measure;
use serde::de::IgnoredAny;
use serde_json::json;
use sterna_protocol::jsonrpc::Message;
use sterna_protocol::methods::{ClientNotification, ClientRequest, Or};
use sterna_protocol::{sep2322, tasks};
use sterna_server::{Cx, Server, TaskMode, Tool};
use sterna_store::MemoryStore;

use crate::mcp::{Client, headers, mounted};

type FromClient<'a> = Message<
    'a,
    Box<Or<ClientRequest, Or<tasks::ClientRequest, sep2322::ClientRequest>>>,
    ClientNotification,
    IgnoredAny,
>;

async fn echo(_: Cx<'_>, (): ()) -> &'static str {
    "hello"
}

fn server() -> Server {
    let tool = Tool::new("echo", "Says hello", echo).task(TaskMode::Optional);
    Server::new("echo", "1.0.0").offer(tool)
}

/// A request about `name`, which stands in the member `member`.
fn request(method: &str, member: &str, name: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {
            "extensions": {"io.modelcontextprotocol/tasks": {}}
        },
    });
    let params = json!({"_meta": meta, member: name});
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

/// The same request with every slash escaped: in the method, in the keys of
/// `_meta` and in the capabilities.
fn escaped(body: &str) -> String {
    body.replace('/', r"\/")
}

/// Allocations that the escapes of `body` cost one decoding.
fn once(body: &str) -> u64 {
    let decode = |body: &str| {
        let cost = measure(|| {
            assert!(matches!(
                FromClient::decode(body.as_bytes()),
                Ok(Message::Request(_))
            ));
        });
        cost.count_total
    };
    let more = decode(&escaped(body)) - decode(body);
    assert_ne!(more, 0, "an escape must cost something to be counted");
    more
}

/// Allocations of one request over HTTP, sent often enough before to have all
/// that is made once.
fn over_http(client: &Client, method: &str, name: &str, body: &str) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let send = || {
        let mut headers = headers("2026-07-28", method);
        headers.insert("mcp-name", name.parse().unwrap());
        let body = body.to_owned();
        let reply = runtime.block_on(client.post(headers, body));
        assert_eq!(reply.status(), 200);
    };
    send();
    measure(send).count_total
}

#[test]
fn a_request_about_a_task_is_parsed_once() {
    let store = MemoryStore::new();
    let service = mounted(server()).store(Arc::new(store)).build().unwrap();
    let client = Client::at(service);
    let task = "0".repeat(32);
    for method in ["tasks/cancel", "tasks/get"] {
        let body = request(method, "taskId", &task);
        let plain = over_http(&client, method, &task, &body);
        let more = over_http(&client, method, &task, &escaped(&body)) - plain;
        assert_eq!(more, once(&body), "{method}");
    }
}

#[test]
fn a_call_is_parsed_once() {
    let client = Client::of(Server::new("echo", "1.0.0").tool("echo", "Says hello", echo));
    let body = request("tools/call", "name", "echo");
    let plain = over_http(&client, "tools/call", "echo", &body);
    let more = over_http(&client, "tools/call", "echo", &escaped(&body)) - plain;
    assert_eq!(more, once(&body));
}
