//! The end of a connection whose request was refused unread.

use std::time::Duration;

use sterna_http::Probes;
use sterna_http::auth::{Gate, StaticTokens};

use crate::desk::Server;
use crate::wire::{Wire, post};

fn guarded() -> Server {
    let tokens = StaticTokens::parse("token-of-ada ada").unwrap();
    Server::guarded(Gate::guarded(tokens), Probes::new(), |_| {})
}

const ADA: &str = "Authorization: Bearer token-of-ada\r\n";

/// Sends the head of a call now and its body a little later.
async fn call_in_two(wire: &mut Wire, lines: &str, body: &str) {
    let request = post(lines, body);
    let (head, body) = request.split_at(request.len() - body.len());
    wire.send(head).await;
    // The server has the head by itself, as it has over a network.
    tokio::time::sleep(Duration::from_millis(20)).await;
    wire.try_send(body.as_bytes()).await;
}

#[tokio::test]
async fn a_refused_call_with_a_short_body_leaves_the_connection_usable() {
    let server = guarded();
    let mut wire = server.connect().await;
    for _ in 0..20 {
        call_in_two(&mut wire, "", &"x".repeat(2000)).await;
        let answer = wire.answer().await;
        assert_eq!(answer.status, 401);
        assert_eq!(answer.header("connection"), None);
        assert_eq!(wire.call_with(ADA, "who").await.body, "Some(\"ada\")");
    }
}

#[tokio::test]
async fn a_refused_call_in_chunks_leaves_the_connection_usable() {
    let server = guarded();
    let mut wire = server.connect().await;
    let head = post("Transfer-Encoding: chunked\r\n", "").replace("Content-Length: 0\r\n", "");
    wire.send(&head).await;
    for part in ["3\r\nabc\r\n", "2\r\nde\r\n", "0\r\n\r\n"] {
        tokio::time::sleep(Duration::from_millis(5)).await;
        wire.send(part).await;
    }
    let answer = wire.answer().await;
    assert_eq!((answer.status, answer.header("connection")), (401, None));
    assert_eq!(wire.call_with(ADA, "who").await.status, 200);
}

#[tokio::test]
async fn a_connection_that_is_closed_after_a_refusal_says_so() {
    let server = guarded();
    let large = "x".repeat(100_000);
    // Too long to be read for nothing, never sent, and not to be sent before we agree.
    for (lines, sent) in [
        ("", large.as_str()),
        ("", ""),
        ("Expect: 100-continue\r\n", ""),
    ] {
        let mut wire = server.connect().await;
        let request = post(lines, &large);
        let head = &request[..request.len() - large.len()];
        let head = match sent {
            "" => head.replace("100000", "10"),
            _ => head.to_owned(),
        };
        wire.send(&head).await;
        wire.try_send(sent.as_bytes()).await;
        let answer = wire.answer().await;
        assert_eq!(answer.status, 401);
        assert_eq!(answer.header("connection"), Some("close"), "{lines}");
        assert!(wire.is_closed().await);
    }
}

#[tokio::test]
async fn a_probe_with_a_body_keeps_or_closes_its_connection_in_words() {
    let server = guarded();
    let mut wire = server.connect().await;
    wire.send("GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n")
        .await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    wire.send("abc").await;
    let answer = wire.answer().await;
    assert_eq!((answer.status, answer.header("connection")), (200, None));
    assert_eq!(wire.get("/livez").await.status, 200);
}

#[tokio::test]
async fn overload_looks_like_overload_to_a_client_that_keeps_its_connection() {
    let server = Server::start(|config| config.limits.calls = 1);
    let mut busy = server.connect().await;
    busy.send(&post("", "wait")).await;
    server.begun(1).await;
    let mut wire = server.connect().await;
    for _ in 0..50 {
        call_in_two(&mut wire, "", &"x".repeat(2000)).await;
        assert_eq!(wire.answer().await.status, 503);
    }
    server.release(1).await;
    assert_eq!(busy.answer().await.body, "waited");
    assert_eq!(wire.call("hello").await.status, 200);
}
