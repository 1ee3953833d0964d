//! Servers that mean harm.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::visitor::Visitor;

/// Markup that would do something in every place of a page it could get into.
pub(crate) const MARKUP: &str = "\"'></textarea></pre></title><script>fetch('http://evil.test')</script><img src=x onerror=alert(1)>&lt;";

/// Starts a server that has markup in every string. Its answers are written by
/// hand, because ours would not say such things.
pub(crate) fn start() -> String {
    start_with(result)
}

fn start_with(result: fn(&Value) -> Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || while answer(&mut stream, result).is_some() {});
        }
    });
    format!("http://{address}/mcp")
}

fn answer(stream: &mut std::net::TcpStream, result: fn(&Value) -> Value) -> Option<()> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let (head, length) = loop {
        let read = stream.read(&mut buffer).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        if let Some(end) = text.find("\r\n\r\n") {
            let length = text[..end]
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"));
            break (
                end + 4,
                length.map_or(0, |length| length.trim().parse().unwrap()),
            );
        }
    };
    while bytes.len() < head + length {
        let read = stream.read(&mut buffer).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
    }
    let request: Value = serde_json::from_slice(&bytes[head..]).ok()?;
    let body =
        json!({"jsonrpc": "2.0", "id": request["id"], "result": result(&request)}).to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()
}

fn result(request: &Value) -> Value {
    let m = MARKUP;
    let schema = json!({"type": "object", "title": m, "description": m, "required": [m], "properties": {
        m: {"type": "string", "title": m, "description": m, "default": m, "pattern": m},
        "e": {"enum": [m], "title": m}, "l": {"type": "array", "items": {"enum": [m]}},
        "o": {"type": "object", "properties": {m: {"type": "integer", "description": m}}}}});
    match request["method"].as_str().unwrap_or_default() {
        "server/discover" => json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}, "prompts": {}, "resources": {}, m: {}}, "instructions": m, "ttlMs": 0, "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": m, "version": m}}}),
        "tools/list" => {
            json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": [
            {"name": "t", "title": m, "description": m, "inputSchema": schema, "annotations": {"title": m, "readOnlyHint": true}},
            {"name": m, "inputSchema": {"type": "object"}}]})
        }
        "prompts/list" => {
            json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "prompts": [
            {"name": m, "title": m, "description": m, "arguments": [{"name": m, "description": m, "required": true}]}]})
        }
        "resources/list" => {
            json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "resources": [
            {"uri": m, "name": m, "description": m}, {"uri": "javascript:alert(1)", "name": "j"}]})
        }
        "resources/templates/list" => {
            json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "resourceTemplates": [
            {"uriTemplate": m, "name": m, "description": m}]})
        }
        "tools/call"
            if request["params"]["name"] == "t"
                && request["params"]["inputResponses"].is_null() =>
        {
            json!({"resultType": "input_required", "requestState": m, "inputRequests": {
                m: {"method": "elicitation/create", "params": {"mode": "form", "message": m, "requestedSchema": {"type": "object",
                    "properties": {"f": {"type": "string", "title": m, "description": m, "default": m},
                                   "c": {"type": "string", "oneOf": [{"const": m, "title": m}], "title": m}}}}},
                "url": {"method": "elicitation/create", "params": {"mode": "url", "message": m, "url": "javascript:alert(1)", "elicitationId": m}},
                "s": {"method": "sampling/createMessage", "params": {"maxTokens": 1, "systemPrompt": m,
                    "messages": [{"role": "user", "content": {"type": "text", "text": m}}]}}}})
        }
        "tools/call" => json!({"resultType": "complete", "structuredContent": {m: m}, "content": [
            {"type": "text", "text": m}, {"type": m, "x": m},
            {"type": "image", "mimeType": "image/svg+xml", "data": "PHN2Zy8+"},
            {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="},
            {"type": "resource", "resource": {"uri": m, "text": m, "mimeType": m}},
            {"type": "resource_link", "uri": "javascript:alert(1)", "name": m}]}),
        "prompts/get" => json!({"resultType": "complete", "description": m, "messages": [
            {"role": "user", "content": {"type": "text", "text": m}}]}),
        "resources/read" => {
            json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "contents": [{"uri": m, "text": m, "mimeType": "text/html"}]})
        }
        _ => json!({"resultType": "complete", "completion": {"values": [m]}}),
    }
}

#[test]
fn markup_of_a_server_is_text_wherever_it_stands() {
    let visitor = Visitor::new(&start(), None);
    let mut pages = vec![
        visitor.get("/"),
        visitor.get("/?find=%22%3E%3Cscript%3E"),
        visitor.get("/request?kind=tool&name=t"),
        visitor.get("/request?kind=resource&name=%22%3E%3Cscript%3E"),
        visitor.call("t", &[("arg/e", MARKUP), ("json", MARKUP)]),
        visitor.post(
            "/calls",
            &[
                ("kind", "tool"),
                ("name", "t"),
                ("mode", "json"),
                ("json", MARKUP),
            ],
        ),
        visitor.post(
            "/calls",
            &[("kind", "prompt"), ("name", MARKUP), ("mode", "form")],
        ),
        visitor.post(
            "/calls",
            &[
                ("kind", "resource"),
                ("name", "javascript:alert(1)"),
                ("mode", "form"),
            ],
        ),
        visitor.get("/connection"),
        visitor.get("/calls"),
    ];
    pages.push(visitor.get("/calls/1"));
    pages.push(visitor.post("/calls/1/rounds/0/answer", &[("q1/model", MARKUP)]));
    let declined = [
        ("q0?action", "decline"),
        ("q2?action", "cancel"),
        ("q1/text", MARKUP),
        ("q1/model", MARKUP),
    ];
    pages.push(visitor.post("/calls/1/rounds/0/answer", &declined));
    for page in &pages {
        assert!(page.status == 200 || page.status == 422, "{page:?}");
        page.lacks("<script>")
            .lacks("<img")
            .lacks("href=\"javascript")
            .lacks("</textarea></pre>");
    }
    let asked = &pages[10];
    asked
        .has("q0/f")
        .has("&lt;script&gt;")
        .has("javascript:alert(1)")
        .has("This address is not opened from here");
    let done = pages.last().unwrap();
    done.has("It is of a type that is not shown.")
        .has("/image?block=3");
    let image = visitor.get("/calls/1/rounds/1/image?block=3");
    assert_eq!(image.header("content-type"), Some("image/png"));
    assert_eq!(
        image.header("content-security-policy"),
        Some("default-src 'none'; sandbox")
    );
    assert_eq!(visitor.get("/calls/1/rounds/1/image?block=2").status, 404);
    assert_eq!(visitor.get("/calls/1/rounds/1/image?block=0").status, 404);
}

#[test]
fn addresses_that_make_no_sense_are_not_found() {
    let visitor = Visitor::new(&start(), None);
    for path in [
        "/calls/99",
        "/calls/x",
        "/calls/-1",
        "/calls/1/rounds/0/token",
        "/calls/18446744073709551616",
        "/eras",
        "/eras?modern=1&legacy=2",
        "/request",
        "/request?kind=tool&name=none",
        "/request?kind=x&name=t",
        "/%2e%2e/etc/passwd",
        "//",
        "/calls/1/rounds/99999999999999999999/image",
    ] {
        assert_eq!(visitor.get(path).status, 404, "{path}");
    }
    for path in [
        "/calls/9/rounds/0/answer",
        "/calls/1/rounds/x/answer",
        "/nowhere",
    ] {
        assert_eq!(visitor.post(path, &[]).status, 404, "{path}");
    }
}

/// A list that never ends, of tools with as many arguments as fit.
fn endless(request: &Value) -> Value {
    let mut answer = result(request);
    if request["method"] == "tools/list" {
        let begin = request["params"]["cursor"]
            .as_str()
            .map_or(0, |cursor| cursor.parse().unwrap());
        let properties: serde_json::Map<String, Value> = (0..2000)
            .map(|n| (format!("a{n}"), json!({"type": "string"})))
            .collect();
        let tool = |n: u32| match n {
            0 => {
                json!({"name": "wide", "inputSchema": {"type": "object", "properties": properties}})
            }
            n => {
                json!({"name": format!("tool{n}"), "description": "x".repeat(5000), "inputSchema": {"type": "object"}})
            }
        };
        let tools: Vec<Value> = (begin..begin + 100).map(tool).collect();
        answer = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools, "nextCursor": (begin + 100).to_string()});
    }
    if request["method"] == "tools/call" {
        let text = "y".repeat(3 << 20);
        answer = json!({"resultType": "complete", "content": [{"type": "text", "text": text}]});
    }
    answer
}

#[test]
fn lists_schemas_and_results_without_end_are_cut() {
    let visitor = Visitor::new(&start_with(endless), None);
    let page = visitor.get("/");
    page.has("only the first 500 are shown")
        .has("tool499")
        .lacks("tool500");
    assert!(page.body.len() < 400_000, "{}", page.body.len());
    let page = visitor.get("/request?kind=tool&name=wide");
    page.has("arg/a399").lacks("arg/a400\"");
    visitor.call("wide", &[]);
    let page = visitor.until("/calls/1", "yyyy…");
    assert!(page.body.len() < 400_000, "{}", page.body.len());
}

#[test]
fn a_server_that_never_answers_does_not_hold_a_page() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let visitor = Visitor::with(&url, |config| {
        config.patience = std::time::Duration::from_millis(200);
    });
    let page = visitor.get("/");
    assert_eq!(page.status, 502);
    page.has("the server did not answer within 200ms");
    assert_eq!(visitor.call("t", &[]).status, 502);
}
