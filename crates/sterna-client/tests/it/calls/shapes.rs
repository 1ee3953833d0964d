//! Shapes of requests and responses on HTTP.

use expect_test::expect;
use serde_json::{Value, json};
use sterna_client::{Client, ErrorKind};
use sterna_protocol::implementation::Implementation;

use super::rounds::text;
use super::scripted::{Said, Scripted, done};
use crate::world::Reply;

#[tokio::test]
async fn a_request_is_a_post_with_everything_the_spec_wants() {
    let server = Scripted::start(|_, _| done("ok")).await;
    let client = Client::builder(&server.url)
        .info(Implementation::new("test", "1"))
        .connect()
        .await
        .unwrap();
    client.call("größe").await.unwrap();
    let seen = server.seen("tools/call").pop().unwrap();
    let headers = [
        "accept",
        "content-type",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
    ];
    let shown: Vec<_> = headers
        .map(|name| format!("{name}: {}\n", seen.header(name).unwrap()))
        .to_vec();
    expect![[r#"
        accept: application/json, text/event-stream
        content-type: application/json
        mcp-protocol-version: 2026-07-28
        mcp-method: tools/call
        mcp-name: =?base64?Z3LDtsOfZQ==?=
    "#]]
    .assert_eq(&shown.concat());
    expect![[r#"{"name":"größe","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}}"#]]
        .assert_eq(&reordered(seen.params()));
}

fn reordered(params: &Value) -> String {
    json!({"name": params["name"], "_meta": params["_meta"]}).to_string()
}

#[tokio::test]
async fn an_answer_may_be_a_stream_with_progress_before_it() {
    let server = Scripted::start(|seen, _| {
        let token = &seen.params()["_meta"]["progressToken"];
        let progress = |at: u32| {
            json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": token, "progress": at}})
        };
        let foreign = json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": "another", "progress": 9}});
        let log = json!({"jsonrpc": "2.0", "method": "notifications/message",
            "params": {"level": "info", "data": "working"}});
        let answer = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": done("ok")});
        let events = [progress(1), foreign, log, progress(2), answer];
        let body: String = events
            .iter()
            .map(|event| format!(": hi\ndata: {event}\n\n"))
            .collect();
        Reply::status(200)
            .with("content-type", "text/event-stream; charset=utf-8")
            .body(body)
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    let heard: std::sync::Arc<std::sync::Mutex<Vec<String>>> = Default::default();
    let [progress, log] = [heard.clone(), heard.clone()];
    let result = client
        .call("t")
        .on_progress(move |at| progress.lock().unwrap().push(format!("{:?}", at.progress)))
        .on_log("debug".into(), move |said| {
            log.lock().unwrap().push(said.data.as_str().to_owned());
        })
        .await
        .unwrap();
    assert_eq!(text(&result), "ok");
    assert_eq!(heard.lock().unwrap().len(), 3);
    assert_eq!(heard.lock().unwrap()[1], "\"working\"");
    let seen = server.seen("tools/call");
    let meta = &seen[0].params()["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/logLevel"], "debug");
}

#[tokio::test]
async fn marked_parameters_are_mirrored_and_learned_anew_on_a_mismatch() {
    let tool = json!({"name": "query", "inputSchema": {"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
    }}});
    let broken = json!({"name": "broken", "inputSchema": {"type": "object", "properties": {
        "a": {"type": "object", "x-mcp-header": "A"},
    }}});
    let server = Scripted::start(move |seen, _| match seen.body["method"].as_str().unwrap() {
        "tools/list" => Said::Result(json!({"resultType": "complete", "tools": [tool, broken],
            "ttlMs": 0, "cacheScope": "private"})),
        _ if seen.header("mcp-param-region") == Some("eu") => Said::Result(done("ok")),
        _ => Said::Error(json!({"code": -32020, "message": "Header mismatch"})),
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    let result = client.call("query").arg("region", "eu").await.unwrap();
    assert_eq!(text(&result), "ok");
    assert_eq!(server.seen("tools/call").len(), 2);

    // Known now: no second try is needed, and the broken tool is not offered.
    client.call("query").arg("region", "eu").await.unwrap();
    assert_eq!(server.seen("tools/call").len(), 3);
    let tools = client.tools().all().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["query"]);

    // A mismatch that listing does not explain is the caller's to see.
    let error = client.call("query").arg("region", "us").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(server.seen("tools/call").len(), 4);
}

#[tokio::test]
async fn lists_are_fetched_page_by_page_with_the_servers_cursors() {
    let server = Scripted::start(|seen, _| {
        let cursor = seen
            .params()
            .get("cursor")
            .and_then(|cursor| cursor.as_str());
        let (name, next) = match cursor {
            None => ("a", Some("")),
            Some("") => ("b", Some("ü")),
            Some(_) => ("c", None),
        };
        let mut page = json!({"resultType": "complete", "prompts": [{"name": name}],
            "ttlMs": 0, "cacheScope": "private"});
        if let Some(next) = next {
            page["nextCursor"] = next.into();
        }
        page
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    let prompts = client.prompts().all().await.unwrap();
    let names: Vec<_> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[tokio::test]
async fn what_is_no_answer_is_a_typed_error() {
    type Case = (&'static str, fn(&Value) -> Reply);
    let cases: [Case; 9] = [
        ("unknown resultType", |id| {
            result(id, json!({"resultType": "partial", "content": []}))
        }),
        ("neither question nor state", |id| {
            result(id, json!({"resultType": "input_required"}))
        }),
        ("null question", |id| {
            result(
                id,
                json!({"resultType": "input_required", "inputRequests": {"a": null}}),
            )
        }),
        ("101 questions", |id| {
            let questions: serde_json::Map<_, _> = (0..101)
                .map(|number| (number.to_string(), json!({"method": "roots/list"})))
                .collect();
            result(
                id,
                json!({"resultType": "input_required", "inputRequests": questions}),
            )
        }),
        ("a task", |id| {
            result(
                id,
                json!({"resultType": "task", "taskId": "t", "status": "working",
                "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": null}),
            )
        }),
        ("another id", |_| result(&json!(99), done("x"))),
        ("not JSON", |_| {
            Reply::status(200)
                .with("content-type", "application/json")
                .body("{")
        }),
        ("HTML", |_| {
            Reply::status(200)
                .with("content-type", "text/html")
                .body("<p>")
        }),
        ("500", |_| Reply::status(500)),
    ];
    let mut shown = String::new();
    for (name, reply) in cases {
        let server = Scripted::start(move |seen, _| reply(&seen.body["id"])).await;
        let client = Client::connect(&server.url).await.unwrap();
        let error = client.call("t").await.unwrap_err();
        shown += &format!("{name}: {:?} {error}\n", error.kind());
    }
    expect![[r#"
        unknown resultType: Peer the server's message cannot be read (MR0503)
        neither question nor state: Peer the server's message cannot be read (MR0503)
        null question: Peer the server's message cannot be read (MR0503)
        101 questions: Peer the server sent an invalid response: more than 100 questions at once (MR0503)
        a task: Peer the server sent an invalid response: a task that was not asked for (MR0503)
        another id: Peer the server sent an invalid response: the answer to another request (MR0503)
        not JSON: Peer the server's message cannot be read (MR0503)
        HTML: Peer the server sent an invalid response: neither JSON nor an event stream (MR0503)
        500: Unavailable the server answered with HTTP status 500 (MR0502)
    "#]]
    .assert_eq(&shown);
}

fn result(id: &Value, result: Value) -> Reply {
    Reply::json(200, &json!({"jsonrpc": "2.0", "id": id, "result": result}))
}
