//! Servers that try to crash, hang or fill a client.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use expect_test::{Expect, expect};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use sterna_client::{Client, Config, Era};
use tokio::time::Instant;

use super::rounds::text;
use super::scripted::{Said, Scripted, Seen, discovered, done};
use crate::world::Reply;

/// Short enough for a test, long enough for a busy machine.
const PATIENCE: Duration = Duration::from_millis(500);

const SMALL: usize = 64 * 1024;

/// Calls a tool of a server that says this to every call.
async fn call(say: impl Fn(&Value) -> Said + Send + Sync + 'static) -> String {
    outcome(&connect(say).await).await
}

/// The same on a clock that jumps as soon as everybody waits: for servers that
/// are waited for in vain.
async fn call_in_vain(say: impl Fn(&Value) -> Said + Send + Sync + 'static) -> String {
    let client = connect(say).await;
    tokio::time::pause();
    outcome(&client).await
}

async fn connect(say: impl Fn(&Value) -> Said + Send + Sync + 'static) -> Client {
    let server = Scripted::start(move |seen, _| say(&seen.body["id"])).await;
    let mut config = Config::default();
    config.max_message_bytes = SMALL;
    let client = Client::builder(&server.url).config(config).roots([]);
    client.connect().await.unwrap()
}

async fn outcome(client: &Client) -> String {
    let start = Instant::now();
    let ended = client.call("t").timeout(PATIENCE).await;
    let took = start.elapsed();
    assert!(took < 8 * PATIENCE, "it took {took:?}");
    match ended {
        Ok(result) => text(&result).to_owned(),
        Err(error) => format!("{:?} {error}", error.kind()),
    }
}

fn check(shown: &str, expected: Expect) {
    expected.assert_eq(shown);
}

fn events(body: Body) -> Said {
    Said::Reply(
        Reply::status(200)
            .with("content-type", "text/event-stream")
            .body(body),
    )
}

fn answer(id: &Value, result: Value) -> String {
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
    format!("data: {answer}\n\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_flood_of_notifications_ends_with_the_patience() {
    let shown = call(|_| {
        let note =
            "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n";
        let piece = Bytes::from(note.repeat(5000));
        events(Body::from_stream(
            stream::repeat(piece).map(Ok::<_, Infallible>),
        ))
    })
    .await;
    check(&shown, expect!["Spent no answer within 500ms (MR0506)"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_flood_of_comments_ends_with_the_patience() {
    let shown = call(|_| {
        let piece = Bytes::from(": still here\n\n".repeat(500));
        events(Body::from_stream(
            stream::repeat(piece).map(Ok::<_, Infallible>),
        ))
    })
    .await;
    check(&shown, expect!["Spent no answer within 500ms (MR0506)"]);
}

#[tokio::test]
async fn a_stream_that_never_says_anything_ends_with_the_patience() {
    let shown = call_in_vain(|_| {
        events(Body::from_stream(stream::pending::<
            Result<Bytes, Infallible>,
        >()))
    });
    check(
        &shown.await,
        expect!["Spent no answer within 500ms (MR0506)"],
    );
}

#[tokio::test]
async fn a_body_that_drips_ends_with_the_patience() {
    let shown = call_in_vain(|_| {
        let drops = stream::repeat(Bytes::from_static(b" ")).then(|drop| async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok::<_, Infallible>(drop)
        });
        let reply = Reply::status(200).with("content-type", "application/json");
        Said::Reply(reply.body(Body::from_stream(drops)))
    });
    check(
        &shown.await,
        expect!["Spent no answer within 500ms (MR0506)"],
    );
}

#[tokio::test]
async fn a_giant_body_is_not_read_to_its_end() {
    let shown = call(|_| Said::Result(done(&"x".repeat(SMALL))));
    check(
        &shown.await,
        expect!["Peer more than 65536 bytes of answer (MR0504)"],
    );
}

#[tokio::test]
async fn a_giant_event_is_not_read_to_its_end() {
    let shown = call(|_| {
        let piece = stream::repeat(Bytes::from(vec![b'x'; 4096])).map(Ok::<_, Infallible>);
        let start = stream::iter([Ok(Bytes::from_static(b"data: \""))]);
        events(Body::from_stream(start.chain(piece)))
    });
    check(
        &shown.await,
        expect!["Peer more than 65536 bytes of event (MR0504)"],
    );
}

#[tokio::test]
async fn a_giant_state_is_not_carried_around() {
    let shown = call(|_| {
        let state = "x".repeat(SMALL);
        Said::Result(json!({"resultType": "input_required", "requestState": state}))
    });
    check(
        &shown.await,
        expect!["Peer more than 65536 bytes of answer (MR0504)"],
    );
}

#[tokio::test]
async fn the_first_of_two_answers_counts() {
    let shown = call(|id| {
        let both = answer(id, done("first")) + &answer(id, done("second"));
        events(Body::from(both))
    });
    check(&shown.await, expect!["first"]);
}

#[tokio::test]
async fn a_question_of_an_unknown_kind_is_refused_and_not_answered() {
    let shown = call(|_| {
        let questions = json!({"a": {"method": "files/delete", "params": {}}});
        Said::Result(json!({"resultType": "input_required", "inputRequests": questions}))
    });
    check(
        &shown.await,
        expect!["Peer the server's message cannot be read (MR0503)"],
    );
}

#[tokio::test]
async fn endless_rounds_end_with_the_cap() {
    let shown = call(|_| {
        let questions = json!({"a": {"method": "roots/list"}});
        Said::Result(json!({"resultType": "input_required", "inputRequests": questions}))
    });
    check(
        &shown.await,
        expect!["Spent after 10 rounds the server still asks for more (MR0507)"],
    );
}

#[tokio::test]
async fn a_list_without_end_ends() {
    let server = Scripted::start(|_, count| {
        json!({"resultType": "complete", "tools": [], "nextCursor": count.to_string(),
            "ttlMs": 0, "cacheScope": "private"})
    })
    .await;
    let mut config = Config::default();
    config.max_pages = 20;
    let client = Client::builder(&server.url).config(config);
    let error = client
        .connect()
        .await
        .unwrap()
        .tools()
        .all()
        .await
        .unwrap_err();
    check(
        &format!("{:?} {error}", error.kind()),
        expect!["Peer the server's list never ends: 20 pages (MR0503)"],
    );
    assert_eq!(server.seen("tools/list").len(), 20);
}

/// A server of 2025-11-25 that says this to everything after the handshake.
async fn session(say: impl Fn(&Seen) -> Said + Send + Sync + 'static) -> Scripted {
    Scripted::raw(move |seen, _| match seen.body["method"].as_str() {
        Some("initialize") => Said::Result(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "serverInfo": {"name": "old", "version": "1"},
        })),
        Some("notifications/initialized") => Said::Reply(Reply::status(202)),
        _ => say(seen),
    })
    .await
}

#[tokio::test]
async fn a_session_that_breaks_off_again_and_again_ends_with_the_patience() {
    let server = session(|seen| match &seen.body["method"] {
        Value::Null if seen.header("last-event-id").is_none() => Said::Reply(Reply::status(405)),
        _ => events(Body::from("id: again\nretry: 0\ndata: \n\n")),
    })
    .await;
    let client = Client::builder(&server.url).era(Era::Legacy);
    let client = client.connect().await.unwrap();
    tokio::time::pause();
    let error = client.call("t").timeout(PATIENCE).await.unwrap_err();
    check(
        &format!("{:?} {error}", error.kind()),
        expect!["Spent no answer within 500ms (MR0506)"],
    );
}

#[tokio::test]
async fn a_session_that_asks_a_thousand_things_at_once_asks_few_people() {
    let server = session(|seen| match seen.body["method"].as_str() {
        Some("tools/call") => {
            let ask = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"});
            let asks: String = (0..1000)
                .map(|id| format!("data: {}\n\n", ask(id)))
                .collect();
            let content = json!({"content": [{"type": "text", "text": "ok"}]});
            events(Body::from(asks + &answer(&seen.body["id"], content)))
        }
        _ => Said::Reply(Reply::status(405)),
    })
    .await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let client = Client::builder(&server.url).era(Era::Legacy);
    let client = client.on_roots(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        std::future::pending()
    });
    let client = client.connect().await.unwrap();
    assert_eq!(text(&client.call("t").await.unwrap()), "ok");
    assert_eq!(asked.load(Ordering::SeqCst), 64);
}

#[tokio::test]
async fn garbage_instead_of_a_discovery_is_no_legacy_server() {
    for garbage in [
        Reply::status(200)
            .with("content-type", "application/json")
            .body("{\"jsonrpc\":"),
        Reply::status(503),
        Reply::status(429),
        Reply::json(
            200,
            &json!({"jsonrpc": "2.0", "id": 4711, "result": discovered()}),
        ),
    ] {
        let garbage = std::sync::Mutex::new(Some(garbage));
        let server = Scripted::raw(move |seen, _| {
            assert_eq!(seen.body["method"], "server/discover");
            let once = garbage.lock().unwrap().take();
            Said::Reply(once.unwrap_or_else(|| Reply::status(500)))
        })
        .await;
        Client::connect(&server.url).await.unwrap_err();
        assert!(server.seen("initialize").is_empty());
    }
}
