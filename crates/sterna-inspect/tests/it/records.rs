//! A client on its way to the server.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use sterna_client::{Client, Step};
use sterna_inspect::RecordConfig;
use sterna_protocol::elicitation::ElicitResult;

use crate::visitor::Visitor;
use crate::{hostile, inspected};

/// Opens an inspector that records clients of the server at `target`.
fn recording(target: &str) -> Visitor {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Visitor::with(target, |config| {
        config.record = Some(RecordConfig::http(listen, target));
    })
}

/// Address and path of the recorder.
fn place(visitor: &Visitor) -> (String, String) {
    let url = visitor.record.as_deref().unwrap();
    let (host, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    (host.to_owned(), format!("/{path}"))
}

/// Sends bytes and returns everything that comes back.
fn exchange(host: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

/// A client that calls a tool and answers its first question.
pub(crate) fn deploys(url: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut headers = http::HeaderMap::new();
        headers.insert("x-api-key", "hunter2".parse().unwrap());
        let client = Client::builder(url)
            .headers(headers)
            .connect()
            .await
            .unwrap();
        let arguments = serde_json::json!({"service": "web"});
        let step = Box::pin(client.call("deploy").args(arguments).start()).await;
        let Ok(Step::InputRequired(mut paused)) = step else {
            panic!("{step:?}");
        };
        let declined: ElicitResult = serde_json::from_value(
            serde_json::json!({"action": "accept", "content": {"reason": "tested"}}),
        )
        .unwrap();
        paused.answer("reason", declined).unwrap();
        paused.resume(&client).await.unwrap();
        client.close().await;
    });
}

#[test]
fn the_rounds_of_a_real_client_are_shown_as_they_come_without_secrets() {
    let visitor = recording(&inspected::start());
    visitor
        .get("/recorded")
        .has("Waiting for the first request");
    deploys(visitor.record.as_deref().unwrap());
    let page = visitor.get("/recorded");
    page.has("tools/call deploy")
        .has("asks <code>reason</code>")
        .has("goes on from #");
    let (_, rest) = page.body.split_once("/recorded/").unwrap();
    let latest = rest.split('"').next().unwrap();
    visitor
        .get(&format!("/recorded/{latest}"))
        .has("Round 1")
        .has("Round 2")
        .has("(hidden, 7 characters)")
        .has("tested")
        .lacks("hunter2")
        .lacks("s1.");
    assert_eq!(visitor.get("/recorded/999").status, 404);
    assert_eq!(visitor.get("/recorded/x").status, 404);
}

#[test]
fn events_are_passed_on_one_by_one_and_to_the_byte() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Odd: a\r\nX-Odd: b\r\nConnection: close\r\n\r\n";
    const FIRST: &str = ": comment\r\n\r\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\n";
    const SECOND: &str = "data: \"method\":\"notifications/message\"}\n\n\u{feff}odd\n\n";
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("http://{}/mcp", server.local_addr().unwrap());
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        let mut request = Vec::new();
        let mut piece = [0; 1024];
        while !request.ends_with(b"{\"odd\" :  1}") {
            let read = stream.read(&mut piece).unwrap();
            request.extend_from_slice(&piece[..read]);
        }
        stream.write_all(HEAD.as_bytes()).unwrap();
        stream.write_all(FIRST.as_bytes()).unwrap();
        // The rest is sent when the client has the beginning.
        may_go_on.recv_timeout(Duration::from_secs(30)).unwrap();
        stream.write_all(SECOND.as_bytes()).unwrap();
        String::from_utf8(request).unwrap()
    });
    let visitor = recording(&target);
    let (host, path) = place(&visitor);
    let mut stream = TcpStream::connect(&host).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\nX-Mine: 1\r\n\
         Content-Type: application/json\r\nContent-Length: 12\r\nConnection: close\r\n\r\n{{\"odd\" :  1}}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let mut piece = [0; 1024];
    while !String::from_utf8_lossy(&answer).contains("\"2.0\",") {
        let read = stream.read(&mut piece).unwrap();
        answer.extend_from_slice(&piece[..read]);
    }
    visitor.get("/recorded").has("running");
    go_on.send(()).unwrap();
    stream.read_to_end(&mut answer).unwrap();
    let sent = serving.join().unwrap();
    assert!(sent.starts_with("POST /mcp HTTP/1.1\r\n"), "{sent}");
    assert!(sent.to_lowercase().contains("x-mine: 1\r\n"), "{sent}");
    assert!(sent.ends_with("\r\n\r\n{\"odd\" :  1}"), "{sent}");
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("x-odd: a\r\nx-odd: b"), "{head}");
    assert_eq!(unchunked(body), format!("{FIRST}{SECOND}"));
    visitor.until("/recorded", "done");
    visitor
        .get("/recorded/1")
        .has("notifications/message")
        .has("{\n  &quot;odd&quot;: 1\n}");
}

/// The body inside the chunks of HTTP/1.1.
fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        whole.push_str(&rest[..size]);
        body = &rest[size + 2..];
    }
    whole
}

#[test]
fn another_name_and_another_page_reach_nothing() {
    // Nothing listens there, so a request that is sent on would be told apart.
    let visitor = recording("http://127.0.0.1:1/mcp");
    let (host, path) = place(&visitor);
    let port = host.rsplit(':').next().unwrap();
    for head in [
        format!("POST {path} HTTP/1.1\r\nHost: evil.test:{port}\r\n"),
        format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: https://evil.test\r\n"),
        format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: null\r\n"),
        format!("POST http://evil.test{path} HTTP/1.1\r\nHost: {host}\r\n"),
    ] {
        let answer = exchange(
            &host,
            &format!("{head}Connection: close\r\nContent-Length: 0\r\n\r\n"),
        );
        assert!(answer.starts_with("HTTP/1.1 403 "), "{head}: {answer}");
    }
    let elsewhere = format!("GET /other HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    assert!(exchange(&host, &elsewhere).starts_with("HTTP/1.1 404 "));
    visitor
        .get("/recorded")
        .has("Waiting for the first request");
    // A client of this machine is sent on, and told that the server is gone.
    let own = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    );
    assert!(exchange(&host, &own).starts_with("HTTP/1.1 502 "));
    visitor.until("/recorded", "broken off");
}

/// A client of the hostile server.
pub(crate) fn calls_a_tool(url: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = Client::builder(url).connect().await.unwrap();
        let _ = Box::pin(client.call("t").start()).await;
        client.close().await;
    });
}

#[test]
fn markup_of_a_recorded_server_is_text() {
    let visitor = recording(&hostile::start());
    calls_a_tool(visitor.record.as_deref().unwrap());
    let page = visitor.get("/recorded");
    page.lacks("<script>fetch").has("tools/call");
    let (_, rest) = page.body.split_once("/recorded/").unwrap();
    let latest = rest.split('"').next().unwrap();
    visitor
        .get(&format!("/recorded/{latest}"))
        .lacks("<script>fetch")
        .has("&lt;script&gt;fetch");
}

#[tokio::test]
async fn only_this_machine_can_be_listened_to() {
    let connector = std::sync::Arc::new(|| Ok(Client::builder("http://127.0.0.1:1/mcp")));
    for (listen, url, why) in [
        (
            "0.0.0.0:0",
            "http://127.0.0.1:1/mcp",
            "not an address of this machine",
        ),
        (
            "127.0.0.1:0",
            "ftp://127.0.0.1/",
            "no http or https address",
        ),
    ] {
        let mut config = sterna_inspect::InspectorConfig::new("x", connector.clone());
        config.record = Some(RecordConfig::http(listen.parse().unwrap(), url));
        let error = sterna_inspect::Inspector::bind(config).unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains(why), "{cause}");
    }
}
