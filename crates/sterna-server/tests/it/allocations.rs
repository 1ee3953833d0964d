//! What a request may allocate, counted over a real socket, so that it cannot
//! grow unseen.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use allocation_counter::measure;
use schemars::JsonSchema;
use serde::Deserialize;
use sterna_server::{Cx, Middleware, Server, ToolError};

#[derive(Deserialize, JsonSchema)]
struct Message {
    message: String,
}

async fn echo(_: Cx<'_>, args: Message) -> String {
    args.message
}

async fn ask(cx: Cx<'_>, args: Message) -> Result<String, ToolError> {
    let answer: Message = cx.ask("answer", args.message).await?;
    Ok(answer.message)
}

/// All of it: reading the request, every check, the handler, the answer.
#[test]
fn a_plain_call_takes_at_most_twenty_two_allocations() {
    let each = each(|server| server);
    assert!(each <= 22, "{each}");
}

/// Two requests: the question, and the retry with its answer.
#[test]
fn a_flow_of_two_rounds_takes_at_most_ninety_allocations() {
    let each = |calls| allocations(calls, |server| server, flows);
    let each = (each(50) - each(10)) / 40;
    assert!(each <= 90, "{each}");
}

struct Idle;

impl Middleware for Idle {}

/// Without middleware none of them is made: the limit above is for such a
/// server.
#[test]
fn middleware_takes_at_most_two_allocations_more() {
    let more = each(|server| server.middleware(Idle)) - each(|server| server);
    assert!(more <= 2, "{more}");
}

fn each(change: fn(Server) -> Server) -> u64 {
    (allocations(50, change, calls) - allocations(10, change, calls)) / 40
}

/// What a server allocates that lives through so many calls of `client` on one
/// connection.
fn allocations(times: usize, change: fn(Server) -> Server, client: fn(&mut TcpStream)) -> u64 {
    let server = Server::new("echo", "1.0.0")
        .tool("echo", "Says it again", echo)
        .tool("ask", "Asks and says it again", ask);
    let service = change(server).build().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (done, until) = tokio::sync::oneshot::channel();
    // Only the allocations of the thread that serves are counted.
    let client = thread::spawn(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        for _ in 0..times {
            client(&mut stream);
        }
        done.send(()).unwrap();
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let cost = measure(|| {
        let until = async { until.await.unwrap() };
        runtime.block_on(service.serve_on(listener, until)).unwrap();
    });
    client.join().unwrap();
    cost.count_total
}

fn calls(stream: &mut TcpStream) {
    let answer = send(stream, "echo", "");
    assert!(answer.contains(r#""text":"hello""#), "{answer}");
}

fn flows(stream: &mut TcpStream) {
    let asked = send(stream, "ask", "");
    let (_, state) = asked.split_once(r#""requestState":""#).unwrap();
    let (state, _) = state.split_once('"').unwrap();
    let accepted = r#"{"answer":{"action":"accept","content":{"message":"good"}}}"#;
    let retry = format!(r#","inputResponses":{accepted},"requestState":"{state}""#);
    let answer = send(stream, "ask", &retry);
    assert!(answer.contains(r#""text":"good""#), "{answer}");
}

/// Calls `tool` with further members of its parameters.
fn send(stream: &mut TcpStream, tool: &str, more: &str) -> String {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"test","version":"1.0.0"}},"io.modelcontextprotocol/clientCapabilities":{{"elicitation":{{"form":{{}}}}}}}},"name":"{tool}","arguments":{{"message":"hello"}}{more}}}}}"#
    );
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: {tool}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream
        .write_all(format!("{head}{body}").as_bytes())
        .unwrap();
    let mut answer = String::new();
    while !answer.ends_with("}}") {
        let mut bytes = [0; 4096];
        let length = stream.read(&mut bytes).unwrap();
        assert_ne!(length, 0, "{answer}");
        answer.push_str(std::str::from_utf8(&bytes[..length]).unwrap());
    }
    answer
}
