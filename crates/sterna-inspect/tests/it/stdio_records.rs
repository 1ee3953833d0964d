//! A client on stdio, on its way to the server.

use std::io::{Read as _, Write as _};

use sterna_client::Direction::{self, Received, Sent};
use sterna_inspect::{InspectorConfig, RecordConfig, StdioRecorder};

use crate::hostile;
use crate::visitor::{Visitor, recorder_with};

/// Opens an inspector between two pipes.
fn recording() -> (Visitor, StdioRecorder) {
    // Nothing is there: a page that connected would say so.
    let config: fn(&mut InspectorConfig) = |config| config.record = Some(RecordConfig::Stdio);
    recorder_with("http://127.0.0.1:1/mcp", config)
}

/// Passes `bytes` of one side on, and returns what has arrived at the other.
fn passes(recorder: &StdioRecorder, direction: Direction, bytes: &str) -> String {
    let mut arrived = Vec::new();
    match direction {
        Received => recorder.pass_to_client(bytes.as_bytes(), &mut arrived),
        Sent => recorder.pass_to_server(bytes.as_bytes(), &mut arrived),
    }
    .unwrap();
    String::from_utf8(arrived).unwrap()
}

/// Has both sides say their lines in turn, and waits until the page has read them.
fn talks(visitor: &Visitor, recorder: &StdioRecorder, lines: &[(Direction, &str)]) {
    for (direction, line) in lines {
        let line = format!("{line}\n");
        assert_eq!(passes(recorder, *direction, &line), line);
    }
    // The last line has a name of its own on the page.
    let end = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/end\"}\n";
    passes(recorder, Sent, end);
    visitor.until("/recorded", "notifications/end");
}

#[test]
fn rounds_progress_and_responses_out_of_order_find_their_requests() {
    let (visitor, recorder) = recording();
    visitor
        .get("/recorded")
        .has("Waiting for the first request")
        .has("start the server a second time");
    talks(
        &visitor,
        &recorder,
        &[
            (
                Sent,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy","arguments":{"password":"hunter2"},"_meta":{"progressToken":"p"}}}"#,
            ),
            (Sent, r#"{"jsonrpc":"2.0","id":"1","method":"tools/list"}"#),
            (
                Received,
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"message":"half way"}}"#,
            ),
            (
                Received,
                r#"{"jsonrpc":"2.0","id":"1","result":{"tools":[]}}"#,
            ),
            (
                Received,
                r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s1.secret","inputRequests":{"reason":{}}}}"#,
            ),
            (
                Sent,
                r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"deploy","requestState":"s1.secret"}}"#,
            ),
            (
                Received,
                r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#,
            ),
        ],
    );
    visitor
        .get("/recorded")
        .has("tools/call deploy")
        .has("tools/list")
        .has("asks <code>reason</code>")
        .has("goes on from #1");
    visitor
        .get("/recorded/3")
        .has("Round 1")
        .has("Round 2")
        .has("half way")
        .lacks("hunter2")
        .lacks("s1.secret");
}

#[test]
fn questions_of_a_session_are_shown_in_the_call_that_asks() {
    let (visitor, recorder) = recording();
    talks(
        &visitor,
        &recorder,
        &[
            (
                Sent,
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ask"}}"#,
            ),
            (
                Received,
                r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"Who owns it?"}}"#,
            ),
            (
                Sent,
                r#"{"jsonrpc":"2.0","id":7,"result":{"action":"decline"}}"#,
            ),
            (
                Received,
                r#"{"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":true}}"#,
            ),
        ],
    );
    visitor
        .get("/recorded/1")
        .has("Who owns it?")
        .has("decline")
        .has("badge bad");
}

#[test]
fn what_is_no_message_is_passed_on_and_named() {
    let (visitor, recorder) = recording();
    talks(
        &visitor,
        &recorder,
        &[
            (Received, "server listening on stdio"),
            (Received, r#"{"jsonrpc":"2.0","id":99,"result":{}}"#),
            (Received, &hostile_line()),
            (
                Sent,
                r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
            ),
            (Sent, "[[[]]]"),
            (Received, r#"{"jsonrpc":"2.0","id":{"a":[]},"method":7}"#),
        ],
    );
    let page = visitor.get("/recorded");
    page.has("broken off").has("ping").lacks("<script>fetch");
    visitor
        .get("/recorded/1")
        .has("the server wrote a line that is no JSON to its stdout")
        .lacks("listening");
    visitor
        .get("/recorded/2")
        .has("a response to a request that was not seen");
    visitor.get("/recorded/3").has("&lt;script&gt;fetch");
}

fn hostile_line() -> String {
    let markup = hostile::MARKUP;
    serde_json::json!({"jsonrpc": "2.0", "method": markup, "params": {"name": markup}}).to_string()
}

#[test]
fn a_page_that_is_not_read_holds_nothing_up() {
    let (visitor, recorder) = recording();
    // Pages are asked for, and their answers are left in the pipe.
    let mut stalled = Vec::new();
    for _ in 0..20 {
        let mut stream = std::net::TcpStream::connect(visitor.address).unwrap();
        let (address, cookie) = (visitor.address, &visitor.cookie);
        let request =
            format!("GET /recorded HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        stalled.push(stream);
    }
    let large = "x".repeat(100_000);
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"text":"{large}"}}}}"#) + "\n";
    let all = line.repeat(400);
    let (from_server, mut server) = std::io::pipe().unwrap();
    let (mut client, to_client) = std::io::pipe().unwrap();
    let sent = all.clone();
    let writing = std::thread::spawn(move || server.write_all(sent.as_bytes()).unwrap());
    let passing = std::thread::spawn(move || recorder.pass_to_client(from_server, to_client));
    let mut arrived = String::new();
    client.read_to_string(&mut arrived).unwrap();
    writing.join().unwrap();
    passing.join().unwrap().unwrap();
    assert!(arrived == all, "{} of {} bytes", arrived.len(), all.len());
    assert_eq!(visitor.get("/recorded").status, 200);
}
