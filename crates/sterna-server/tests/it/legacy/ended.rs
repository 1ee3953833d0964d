//! Sessions that a client has ended.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use http_body_util::BodyExt;
use serde_json::json;
use sterna_server::{Cx, Server, Service};
use sterna_store_sqlite::{Config, SqliteStore};

use super::Session;
use crate::mcp::keys;
use crate::mcp::tasks::Fleet;

async fn hello(_: Cx<'_>, (): ()) -> &'static str {
    "hello"
}

fn server() -> Server {
    Server::new("ending", "1").tool("hello", "", hello)
}

async fn call(session: &Session) -> u16 {
    let call = json!({"name": "hello"});
    session.send("tools/call", call).await.status
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_ended_is_refused_by_every_instance_of_a_store() {
    let fleet = Fleet::new();
    let here = Session::at(fleet.built(server()));
    let here = here.open("2025-11-25", json!({})).await;
    let there = here.on(&Session::at(fleet.built(server())));
    assert_eq!((call(&here).await, call(&there).await), (200, 200));
    assert_eq!(here.delete().await.status(), StatusCode::NO_CONTENT);
    assert_eq!(call(&here).await, 404);
    // An instance that has not served the session looks at once.
    let fresh = here.on(&Session::at(fleet.built(server())));
    assert_eq!(call(&fresh).await, 404);
    // One that has looks again after five seconds.
    tokio::time::advance(Duration::from_secs(6)).await;
    assert_eq!(call(&there).await, 404);
    assert_eq!(there.listen().await.status(), 404);
    assert_eq!(there.delete().await.status(), 404);
}

#[tokio::test(start_paused = true)]
async fn an_open_stream_of_an_ended_session_ends_at_other_instances_too() {
    let fleet = Fleet::new();
    let here = Session::at(fleet.built(server()));
    let here = here.open("2025-11-25", json!({})).await;
    let there = here.on(&Session::at(fleet.built(server())));
    let stream = there.listen().await;
    assert_eq!(stream.status(), 200);
    assert_eq!(here.delete().await.status(), StatusCode::NO_CONTENT);
    let ended = tokio::time::timeout(Duration::from_secs(70), stream.into_body().collect());
    assert!(ended.await.is_ok(), "the stream stays open");
}

fn on(path: &std::path::Path) -> Service {
    let store = SqliteStore::open(path, Config::default()).unwrap();
    let server = server().keys(keys()).anonymous().store(Arc::new(store));
    server.build().unwrap()
}

#[tokio::test]
async fn a_session_that_was_ended_stays_ended_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let none = Session::at(on(&path));
    let before = none.open("2025-11-25", json!({})).await;
    let kept = none.open("2025-11-25", json!({})).await;
    assert_eq!(call(&before).await, 200);
    assert_eq!(before.delete().await.status(), StatusCode::NO_CONTENT);
    let after = Session::at(on(&path));
    assert_eq!(call(&before.on(&after)).await, 404);
    assert_eq!(call(&kept.on(&after)).await, 200);
}

#[tokio::test(start_paused = true)]
async fn an_end_that_cannot_be_recorded_is_no_end() {
    let fleet = Fleet::new();
    let none = Session::at(fleet.built(server()));
    // The ends of sessions are rows that clients write, so there are only so many.
    for _ in 0..1024 {
        let session = none.open("2025-11-25", json!({})).await;
        assert_eq!(session.delete().await.status(), StatusCode::NO_CONTENT);
    }
    let session = none.open("2025-11-25", json!({})).await;
    let refused = session.delete().await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()["retry-after"], "1");
    assert_eq!(call(&session).await, 200);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(session.delete().await.status(), StatusCode::NO_CONTENT);
    assert_eq!(call(&session).await, 404);
}
