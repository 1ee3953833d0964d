//! Answers that take their time.

use crate::desk::Server;
use crate::wire::post;

#[tokio::test]
async fn a_stream_counts_as_its_call_and_a_subscription_does_not() {
    let server = Server::start(|config| {
        config.limits.calls = 1;
        config.limits.listeners = 2;
    });
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut wire = server.connect().await;
        wire.send(&post("", "listen")).await;
        wire.head().await;
        open.push(wire);
    }
    let mut wire = server.connect().await;
    assert_eq!(wire.call("listen").await.status, 503);
    assert_eq!(wire.call("x").await.status, 200);

    let mut stream = server.connect().await;
    stream.send(&post("", "stream word")).await;
    stream.head().await;
    assert_eq!(wire.call("x").await.status, 503);
    server.release(5).await;
    assert_eq!(stream.chunk().await, "data: word\n\n");
    assert_eq!(stream.chunk().await, "");
    assert_eq!(wire.call("x").await.status, 200);

    drop(open.pop());
    server.ended(5).await;
    wire.send(&post("", "listen")).await;
    assert!(wire.head().await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_stream_that_panics_is_broken_off_and_nothing_else() {
    let server = Server::start(|config| config.limits.calls = 1);
    let mut wire = server.connect().await;
    wire.send(&post("", "stream panic")).await;
    wire.head().await;
    assert_eq!(wire.chunk().await, "data: panic\n\n");
    server.release(1).await;
    assert_eq!(wire.rest().await, "", "it must not look whole");
    let mut other = server.connect().await;
    assert_eq!(other.call("x").await.status, 200);
}
