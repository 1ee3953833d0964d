//! Messages are parsed once.
//!
//! An escape in a JSON text costs the parser a few allocations each time it
//! comes past. A request that is spelled with escapes must therefore cost the
//! server as many more allocations as it costs one decoding, and none besides.

use std::sync::Arc;

use allocation_counter::measure;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use serde_json::value::RawValue;
use sterna_protocol::jsonrpc::Message;
use sterna_protocol::methods::{ClientNotification, ClientRequest, Or};
use sterna_protocol::{legacy, sep2322, tasks};
use sterna_server::{Cx, Server, TaskMode, Tool};
use sterna_store::MemoryStore;

use crate::mcp::{Client, headers, mounted};

type FromClient<'a> = Message<
    'a,
    Box<Or<ClientRequest, Or<tasks::ClientRequest, sep2322::ClientRequest>>>,
    ClientNotification,
    IgnoredAny,
>;

type FromSession<'a> = Message<'a, legacy::ClientRequest, legacy::ClientNotification, &'a RawValue>;

async fn echo(_: Cx<'_>, (): ()) -> &'static str {
    "hello"
}

#[derive(Deserialize, JsonSchema)]
struct Paths {
    first: String,
    others: Vec<String>,
}

async fn count(_: Cx<'_>, paths: Paths) -> &'static str {
    assert!(paths.first.contains('/'));
    match paths.others.len() {
        2 => "two",
        _ => "others",
    }
}

fn server() -> Server {
    Server::new("echo", "1.0.0")
        .tool("echo", "Says hello", echo)
        .tool("count", "Counts paths", count)
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

/// A call whose arguments are `arguments`.
fn call_with(arguments: &str) -> String {
    let body = request("tools/call", "name", "count");
    let body = body.strip_suffix("}}").unwrap();
    format!(r#"{body},"arguments":{arguments}}}}}"#)
}

/// Allocations that the escapes of `body` cost one decoding.
fn once(body: &str) -> u64 {
    cost_of(body, |body| {
        let message = FromClient::decode(body.as_bytes());
        assert!(matches!(message, Ok(Message::Request(_))));
    })
}

/// As `once`, of a message within a session.
fn once_in_session(body: &str) -> u64 {
    cost_of(body, |body| {
        let message = FromSession::decode(body.as_bytes());
        assert!(matches!(message, Ok(Message::Request(_))));
    })
}

fn cost_of(body: &str, decode: impl Fn(&str)) -> u64 {
    let decode = |body: &str| measure(|| decode(body)).count_total;
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
    let tool = Tool::new("echo", "Says hello", echo).task(TaskMode::Optional);
    let server = mounted(Server::new("echo", "1.0.0").offer(tool));
    let client = Client::at(server.store(Arc::new(store)).build().unwrap());
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
    let client = Client::of(server());
    // For its first byte, the direct reader leaves the text to the decoder with and without
    // escapes.
    let body = format!("\n{}", request("tools/call", "name", "echo"));
    let plain = over_http(&client, "tools/call", "echo", &body);
    let more = over_http(&client, "tools/call", "echo", &escaped(&body)) - plain;
    assert_eq!(more, once(&body));
}

/// Their schema is checked on their text, and their type is read from it: no tree
/// of them is built.
#[test]
fn arguments_are_decoded_once() {
    let client = Client::of(server());
    let arguments = r#"{"first":"a/b","others":["c/d","e/f/g"]}"#;
    let plain = over_http(&client, "tools/call", "count", &call_with(arguments));
    let spelled = escaped(arguments);
    let more = over_http(&client, "tools/call", "count", &call_with(&spelled)) - plain;
    let once = cost_of(arguments, |arguments| {
        assert!(serde_json::from_str::<Paths>(arguments).is_ok());
    });
    assert_eq!(more, once);
    // As few more as there are strings: nothing is left of a second reading.
    let longer = r#"{"first":"a/b","others":["c/d","e/f/g","h/i","j/k"]}"#;
    let longer = over_http(&client, "tools/call", "count", &call_with(longer));
    assert_eq!(longer - plain, 2);
}

/// Allocations of `line`, which is sent over stdio behind `first`: what many
/// such lines cost that fewer do not.
fn over_stdio(first: &str, line: &str) -> u64 {
    let serve = |times: usize| {
        let service = server().build().unwrap();
        let input = format!("{first}{}", format!("{line}\n").repeat(times));
        let mut output = Vec::with_capacity(1 << 20);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let cost = measure(|| {
            let serving = service.serve_lines(input.as_bytes(), &mut output);
            runtime.block_on(serving).unwrap();
        });
        let answers = output.split(|byte| *byte == b'\n');
        let done = answers.filter(|answer| answer.ends_with(b"}}")).count();
        assert!(done >= times, "{}", String::from_utf8_lossy(&output));
        cost.count_total
    };
    serve(150) - serve(50)
}

#[test]
fn a_line_is_parsed_once() {
    let line = request("tools/call", "name", "echo");
    let more = over_stdio("", &escaped(&line)) - over_stdio("", &line);
    assert_eq!(more / 100, once(&line), "{more}");
}

#[test]
fn a_line_of_a_session_is_parsed_once() {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let first = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let first = format!("{first}\n");
    let params = json!({"_meta": {"example.com/key": "a/b"}, "name": "echo"});
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let line = line.to_string();
    let more = over_stdio(&first, &escaped(&line)) - over_stdio(&first, &line);
    assert_eq!(more / 100, once_in_session(&line), "{more}");
}
