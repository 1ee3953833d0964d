use std::sync::Arc;
use std::time::Duration;

use http::Method;
use serde_json::json;
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::{Cx, Server};
use tokio::sync::mpsc;

use super::asking::server;
use super::{Session, next, show};
use crate::mcp::{Reply, accept};
use crate::telemetry::capture::Capture;

#[tokio::test]
async fn initialize_agrees_on_the_revision_the_client_wants_if_we_have_it() {
    let none = Session::none(server());
    for (wanted, agreed) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let result = Reply::read(none.initialize(wanted, json!({})).await).await;
        let result = result.into_result();
        assert_eq!(result["protocolVersion"], agreed, "{wanted}");
        assert_eq!(result["serverInfo"]["name"], "asking");
        let capabilities = json!({
            "logging": {},
            "tools": {},
            "prompts": {},
            "resources": {"subscribe": true},
        });
        assert_eq!(result["capabilities"], capabilities);
        assert_eq!(result.get("resultType"), None);
    }
}

#[tokio::test]
async fn a_session_id_is_visible_ascii_and_good_on_another_instance() {
    let here = Session::of(server()).await;
    let there = here.on(&Session::none(server()));
    let id = here.id.clone().unwrap();
    assert!(id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
    let said = there
        .play(
            "tools/call",
            json!({"name": "name"}),
            &[accept(json!({"name": "Ada"}))],
        )
        .await;
    assert_eq!(said, "elicitation/create: Who are you? -> Hello, Ada!");
}

#[tokio::test]
async fn a_garbled_session_id_is_not_found() {
    let session = Session::of(server()).await;
    let id = session.id.clone().unwrap();
    let flipped = if id.ends_with('A') { "B" } else { "A" };
    for bad in [
        "x",
        "s1.",
        &id[..id.len() - 1],
        &format!("{}{flipped}", &id[..id.len() - 1]),
    ] {
        let bad = session.with_id(bad);
        assert_eq!(bad.send("tools/list", json!({})).await.status, 404);
        assert_eq!(bad.listen().await.status(), 404);
        assert_eq!(bad.delete().await.status(), 404);
    }
}

#[tokio::test]
async fn a_request_state_is_no_session_id() {
    let modern = crate::mcp::Client::of(server());
    let asked = modern.call_tool("name", json!({})).await;
    let state = asked["requestState"].as_str().unwrap();
    let session = Session::of(server()).await.with_id(state);
    assert_eq!(session.send("tools/list", json!({})).await.status, 404);
}

#[tokio::test]
async fn a_session_is_its_callers_alone() {
    let tokens = StaticTokens::parse("ada-token ada\neve-token eve").unwrap();
    let none = Session::none(server().gate(Gate::guarded(tokens))).with_token("ada-token");
    let session = none.open("2025-11-25", json!({"elicitation": {}})).await;
    let mut stream = session.start("tools/call", json!({"name": "name"})).await;
    let question = next(&mut stream).await;
    let eve = session.with_token("eve-token");
    let answer =
        json!({"jsonrpc": "2.0", "id": question["id"], "result": accept(json!({"name": "Eve"}))});
    assert_eq!(eve.post(answer).await.status(), 404);
    session
        .answer(&question, accept(json!({"name": "Ada"})))
        .await;
    assert_eq!(show(&next(&mut stream).await), "Hello, Ada!");
}

#[tokio::test]
async fn without_a_session_only_initialize_is_answered() {
    let mut none = Session::none(server());
    none.version = Some("2025-11-25");
    let reply = none.send("tools/list", json!({})).await;
    let told = reply.error();
    assert!(
        told.starts_with("400 -32600 \"The message belongs to no session: send `initialize` first"),
        "{told}"
    );
    assert_eq!(none.listen().await.status(), 400);
    assert_eq!(none.delete().await.status(), 400);
}

#[tokio::test]
async fn an_unknown_revision_in_the_header_is_a_bad_request() {
    let mut session = Session::of(server()).await;
    session.version = Some("1999-01-01");
    let reply = session.send("tools/list", json!({})).await;
    assert_eq!(
        reply.error(),
        "400 -32600 \"Unsupported protocol version: `MCP-Protocol-Version` must be 2026-07-28, 2025-11-25, 2025-06-18 or 2025-03-26\""
    );
    session.version = None;
    assert_eq!(session.send("tools/list", json!({})).await.status, 200);
}

#[tokio::test]
async fn a_ping_and_a_level_are_answered_with_nothing() {
    let session = Session::of(server()).await;
    for (method, params) in [
        ("ping", json!({})),
        ("logging/setLevel", json!({"level": "info"})),
        ("resources/subscribe", json!({"uri": "test://secret"})),
        ("resources/unsubscribe", json!({"uri": "test://secret"})),
    ] {
        let result = session.send(method, params).await.into_result();
        assert_eq!(result, json!({}), "{method}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_said_in_the_words_of_the_revision() {
    let session = Session::of(server()).await;
    for (method, params, error) in [
        (
            "nonsense",
            json!({}),
            "200 -32601 \"Method not found: `nonsense`\"",
        ),
        (
            "tasks/list",
            json!({}),
            "200 -32601 \"Method not found: `tasks/list`; this server does not offer it\"",
        ),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}}),
            "200 -32601 \"Method not found: `completion/complete`; this server does not offer it\"",
        ),
        (
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}),
            "200 -32601 \"Method not found: `initialize`; this server does not offer it\"",
        ),
        (
            "tools/call",
            json!({"name": "none"}),
            "200 -32602 \"Unknown tool `none`; `tools/list` has those of this server\"",
        ),
        (
            "tools/call",
            json!({}),
            "200 -32602 \"Invalid params: missing field `name`\"",
        ),
        (
            "resources/read",
            json!({"uri": "test://none"}),
            "200 -32002 \"Unknown resource `test://none`; `resources/list` has those of this server\" {\"uri\":\"test://none\"}",
        ),
        (
            "tools/list",
            json!({"cursor": "x"}),
            "200 -32602 \"Invalid params: `cursor` is none that this list gave out, or too old; begin again without one\"",
        ),
    ] {
        assert_eq!(
            session.send(method, params).await.error(),
            error,
            "{method}"
        );
    }
}

#[tokio::test]
async fn a_session_that_was_ended_is_gone() {
    let session = Session::of(server()).await;
    assert_eq!(session.delete().await.status(), 204);
    assert_eq!(session.send("tools/list", json!({})).await.status, 404);
    assert_eq!(session.delete().await.status(), 404);
}

/// Says when it is dropped.
struct Noticed(mpsc::UnboundedSender<()>);

impl Drop for Noticed {
    fn drop(&mut self) {
        self.0.send(()).unwrap();
    }
}

async fn stuck(cx: Cx<'_>, (): ()) {
    let seen: &mpsc::UnboundedSender<()> = cx.state();
    let _noticed = Noticed(seen.clone());
    let asked = cx.ask::<String>("name", "Who are you?").await;
    drop(asked);
    std::future::pending::<()>().await;
}

fn stuck_server() -> (Server, mpsc::UnboundedReceiver<()>) {
    let (seen, dropped) = mpsc::unbounded_channel();
    let server = Server::new("stuck", "1")
        .tool("stuck", "Never ends", stuck)
        .state(seen);
    (server, dropped)
}

#[tokio::test]
async fn ending_a_session_stops_what_it_asked_and_what_it_runs() {
    let (server, mut dropped) = stuck_server();
    let session = Session::of(server).await;
    let mut asking = session.start("tools/call", json!({"name": "stuck"})).await;
    let question = next(&mut asking).await;
    let mut events = session.listen().await;
    let (capture, guard) = Capture::start();
    assert_eq!(session.delete().await.status(), 204);
    drop(guard);
    assert!(ends(&mut asking).await);
    assert!(ends(&mut events).await);
    dropped.recv().await.unwrap();
    let mut logged = capture.events();
    logged.retain(|event| event.target == "sterna::sessions");
    let [logged] = &logged[..] else {
        panic!("not one event: {logged:?}");
    };
    let values = ["calls", "questions", "message"].map(|name| logged.get(name));
    assert_eq!(
        values,
        [
            Some("1"),
            Some("1"),
            Some("pending calls are cancelled: their session has ended")
        ]
    );
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {}});
    assert_eq!(session.post(answer).await.status(), 404);
}

#[tokio::test]
async fn a_request_that_is_taken_back_is_stopped_and_not_answered() {
    let (server, mut dropped) = stuck_server();
    let session = Session::of(server).await;
    let mut asking = session.start("tools/call", json!({"name": "stuck"})).await;
    next(&mut asking).await;
    let cancel = |id: u32| {
        let params = json!({"requestId": id, "reason": "enough"});
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    };
    assert_eq!(session.post(cancel(99)).await.status(), 202);
    assert!(dropped.try_recv().is_err());
    assert_eq!(session.post(cancel(1)).await.status(), 202);
    assert!(ends(&mut asking).await);
    dropped.recv().await.unwrap();
}

#[tokio::test]
async fn a_client_that_vanishes_drops_the_handler() {
    let (server, mut dropped) = stuck_server();
    let session = Session::of(server).await;
    let mut asking = session.start("tools/call", json!({"name": "stuck"})).await;
    next(&mut asking).await;
    drop(asking);
    dropped.recv().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_question_waits_no_longer_than_a_call_may_take() {
    let mut http = sterna_server::http::HttpConfig::default();
    http.timeouts.call = Duration::from_secs(60);
    let session = Session::of(server().http(http)).await;
    let mut stream = session.start("tools/call", json!({"name": "name"})).await;
    next(&mut stream).await;
    let mut end = next(&mut stream).await;
    while end["method"] == "notifications/cancelled" {
        end = next(&mut stream).await;
    }
    assert_eq!(
        show(&end),
        "-32603 \"The call took longer than the server allows (`timeouts.call`)\""
    );
}

#[tokio::test]
async fn a_session_has_so_many_questions_open_and_no_more() {
    async fn many(cx: Cx<'_>, (): ()) -> Result<(), sterna_server::AskError> {
        let asked: Vec<_> = (0..33)
            .map(|number| cx.confirm(&format!("q{number}"), "Really?"))
            .collect();
        for question in asked {
            question.await?;
        }
        Ok(())
    }
    async fn all(cx: Cx<'_>, (): ()) {
        let asked = (0..33).map(|number| cx.confirm(&format!("q{number}"), "Really?"));
        cx.join_all(asked).await;
    }
    let session = Session::of(
        Server::new("many", "1")
            .tool("many", "One after the other", many)
            .tool("all", "All at once", all),
    )
    .await;
    let mut stream = session.start("tools/call", json!({"name": "all"})).await;
    loop {
        let message = next(&mut stream).await;
        if message.get("method").is_none() {
            assert_eq!(
                show(&message),
                "-32603 \"Too many questions are open in this session; answer some of them first\""
            );
            break;
        }
    }
    // What it had asked is closed with it, so there is room again.
    let mut stream = session.start("tools/call", json!({"name": "many"})).await;
    assert_eq!(next(&mut stream).await["method"], "elicitation/create");
}

#[tokio::test]
async fn a_client_that_declares_more_than_an_id_can_hold_is_refused() {
    let none = Session::none(server());
    let huge = json!({"experimental": {"x": {"y": "z".repeat(5000)}}});
    let reply = Reply::read(none.initialize("2025-11-25", huge).await).await;
    assert!(reply.error().starts_with("200 -32602"), "{}", reply.error());
}

#[tokio::test]
async fn several_calls_of_one_session_run_at_once() {
    let session = Arc::new(Session::of(server()).await);
    let call = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "name"}});
    let (mut one, mut two) = (session.post(call(1)).await, session.post(call(2)).await);
    let (first, second) = (next(&mut one).await, next(&mut two).await);
    session
        .answer(&second, accept(json!({"name": "Two"})))
        .await;
    session.answer(&first, accept(json!({"name": "One"}))).await;
    let (one, two) = (next(&mut one).await, next(&mut two).await);
    assert_eq!((&one["id"], &two["id"]), (&json!(1), &json!(2)));
    assert_eq!(
        (show(&one), show(&two)),
        ("Hello, One!".into(), "Hello, Two!".into())
    );
}

#[tokio::test]
async fn get_and_delete_are_not_allowed_without_sessions() {
    let none = Session::none(server().without_sessions());
    for method in [Method::GET, Method::DELETE] {
        let response = none.http(method, "*/*", String::new()).await;
        assert_eq!(response.status(), 405);
    }
}

/// Whether a stream ends without another message.
async fn ends(stream: &mut http::Response<sterna_server::http::ResponseBody>) -> bool {
    use http_body_util::BodyExt;
    while let Some(frame) = stream.body_mut().frame().await {
        let data = frame.unwrap().into_data().unwrap();
        if !data.starts_with(b":")
            && !data
                .starts_with(b"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"")
        {
            return false;
        }
    }
    true
}
