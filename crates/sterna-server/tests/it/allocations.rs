//! What a request may allocate, counted over a real socket, so that it cannot
//! grow unseen.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use allocation_counter::measure;
use schemars::JsonSchema;
use serde::Deserialize;
use sterna_server::{Cx, Middleware, Server};

#[derive(Deserialize, JsonSchema)]
struct Message {
    message: String,
}

async fn echo(_: Cx<'_>, args: Message) -> String {
    args.message
}

/// All of it: reading the request, every check, the handler, the answer.
#[test]
fn a_plain_call_takes_at_most_forty_allocations() {
    let each = each(|server| server);
    assert!(each <= 40, "{each}");
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
    (allocations(50, change) - allocations(10, change)) / 40
}

/// What a server allocates that lives through so many calls on one connection.
fn allocations(calls: usize, change: fn(Server) -> Server) -> u64 {
    let server = Server::new("echo", "1.0.0").tool("echo", "Says it again", echo);
    let service = change(server).build().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (done, until) = tokio::sync::oneshot::channel();
    // Only the allocations of the thread that serves are counted.
    let client = thread::spawn(move || {
        call(address, calls);
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

fn call(address: SocketAddr, calls: usize) {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}},"name":"echo","arguments":{"message":"hello"}}}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: echo\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).unwrap();
    for _ in 0..calls {
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        while !answer.ends_with("}}") {
            let mut bytes = [0; 4096];
            let length = stream.read(&mut bytes).unwrap();
            assert_ne!(length, 0, "{answer}");
            answer.push_str(std::str::from_utf8(&bytes[..length]).unwrap());
        }
        assert!(answer.contains(r#""text":"hello""#), "{answer}");
    }
}
