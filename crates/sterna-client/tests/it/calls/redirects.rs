//! Servers that send a call on to another place.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use sterna_client::{Client, ErrorKind};

use super::rounds::text;
use super::scripted::{Said, Scripted, done};
use crate::world::{Reply, serve};

#[tokio::test]
async fn a_call_goes_to_no_other_origin() {
    let visits = Arc::new(AtomicUsize::new(0));
    let count = visits.clone();
    let elsewhere = serve(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        async {
            Reply::json(
                200,
                &json!({"jsonrpc": "2.0", "id": 2, "result": done("caught")}),
            )
        }
    })
    .await;
    for status in [307, 308, 302] {
        let elsewhere = elsewhere.clone();
        let server = Scripted::start(move |_, _| {
            Said::Reply(Reply::status(status).with("location", elsewhere.clone()))
        })
        .await;
        let client = Client::connect(&server.url).await.unwrap();
        let error = client.call("t").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    }
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_call_may_move_within_its_origin() {
    let server = Scripted::start(|_, count| match count {
        1 => Said::Reply(Reply::status(307).with("location", "/moved")),
        _ => Said::Result(done("here")),
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    let result = client.call("t").await.unwrap();
    assert_eq!(text(&result), "here");
}
