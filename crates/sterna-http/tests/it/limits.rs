//! Limits on the size of requests.

use std::time::Duration;

use sterna_http::auth::{Gate, StaticTokens};
use sterna_http::{Probes, Rate};

use crate::desk::{NEVER, Server};
use crate::wire::post;

#[tokio::test]
async fn a_body_up_to_the_limit_is_read_and_a_larger_one_is_not() {
    let server = Server::start(|config| config.limits.body_bytes = 100_000);
    let mut wire = server.connect().await;
    let body = format!("size {}", "x".repeat(99_995));
    assert_eq!(wire.call(&body).await.body, "100000");
    let body = format!("size {}", "x".repeat(99_996));
    assert_eq!(wire.call(&body).await.status, 413);
}

#[tokio::test]
async fn a_body_that_says_it_is_too_large_is_refused_before_it_comes() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    let head = post("Expect: 100-continue\r\n", "");
    let head = head.replace("Content-Length: 0", "Content-Length: 99999999999");
    wire.send(&head).await;
    let answer = wire.answer().await;
    assert_eq!(answer.status, 413);
    assert!(wire.is_closed().await);
}

#[tokio::test]
async fn a_client_that_sends_too_much_still_reads_why_it_was_refused() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    // Most clients give up on the first failed write, so all of it must be taken.
    wire.send(&post("", &"x".repeat(8 << 20))).await;
    assert_eq!(wire.answer().await.status, 413);
}

#[tokio::test]
async fn a_chunked_body_is_gathered_up_to_the_limit() {
    let server = Server::start(|config| config.limits.body_bytes = 1000);
    let chunked = |chunks: usize| {
        let head = post("Transfer-Encoding: chunked\r\n", "");
        let head = head.replace("Content-Length: 0\r\n", "");
        let chunk = format!("64\r\n{}\r\n", "size ".repeat(20));
        format!("{head}{}0\r\n\r\n", chunk.repeat(chunks))
    };
    let mut wire = server.connect().await;
    wire.send(&chunked(10)).await;
    assert_eq!(wire.answer().await.body, "1000");
    wire.send(&chunked(11)).await;
    assert_eq!(wire.answer().await.status, 413);
}

#[tokio::test]
async fn bodies_in_pieces_share_one_budget_and_give_it_back() {
    let server = Server::start(|config| config.limits.buffered_bytes = 1200);
    let whole = post("", &"size ".repeat(100));
    let head = &whole[..whole.find("\r\n\r\n").unwrap() + 4];
    let half = "size ".repeat(50);
    let mut one = server.connect().await;
    one.send(&format!("{head}{half}")).await;
    let mut two = server.connect().await;
    // The second finds no room once the first is known to hold its half.
    let refused = loop {
        two.send(&format!("{head}{half}")).await;
        two.send(&half).await;
        let answer = two.answer().await;
        if answer.status == 503 {
            break answer;
        }
        assert_eq!(answer.body, "500");
    };
    assert_eq!(refused.header("retry-after"), Some("1"));
    one.send(&half).await;
    assert_eq!(one.answer().await.body, "500");
    let mut three = server.connect().await;
    three.send(&format!("{head}{half}")).await;
    three.send(&half).await;
    assert_eq!(three.answer().await.body, "500");
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let server = Server::start(|config| config.limits.head_bytes = 10_000);
    for size in [9_000, 10_000, 100_000] {
        let mut wire = server.connect().await;
        let line = format!("X-Long: {}\r\n", "x".repeat(size));
        wire.try_send(post(&line, "x").as_bytes()).await;
        let expected = if size < 9_500 { 200 } else { 431 };
        assert_eq!(wire.answer().await.status, expected, "{size}");
    }
    let mut wire = server.connect().await;
    wire.try_send(post(&"X-Many: x\r\n".repeat(200), "x").as_bytes())
        .await;
    assert_eq!(wire.answer().await.status, 431);
}

#[tokio::test]
async fn one_call_too_many_is_told_to_come_again_and_finds_room_at_once() {
    let server = Server::start(|config| config.limits.calls = 2);
    let mut busy = [server.connect().await, server.connect().await];
    for wire in &mut busy {
        wire.send(&post("", "wait")).await;
    }
    server.begun(2).await;
    let mut wire = server.connect().await;
    let answer = wire.call("hello").await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(wire.get("/livez").await.status, 200);
    server.release(2).await;
    for wire in &mut busy {
        assert_eq!(wire.answer().await.body, "waited");
    }
    assert_eq!(wire.call("hello").await.status, 200);
}

#[tokio::test]
async fn a_named_caller_is_throttled_and_others_are_not() {
    let tokens = StaticTokens::parse("one alice\ntwo bob").unwrap();
    let server = Server::guarded(Gate::guarded(tokens), Probes::new(), |config| {
        config.rates.calls = Some(Rate::new(3, NEVER));
        config.rates.questions = Some(Rate::new(5, NEVER));
    });
    let mut wire = server.connect().await;
    let alice = "Authorization: Bearer one\r\n";
    assert_eq!(wire.call_with(alice, "ask 4").await.body, "asked");
    let answer = wire.call_with(alice, "ask 4").await;
    assert_eq!(answer.status, 429);
    assert_eq!(answer.header("retry-after"), Some("10800"));
    assert_eq!(wire.call_with(alice, "who").await.body, "Some(\"alice\")");
    assert_eq!(wire.call_with(alice, "who").await.status, 429);
    let bob = "Authorization: Bearer two\r\n";
    assert_eq!(wire.call_with(bob, "who").await.body, "Some(\"bob\")");
}

#[tokio::test(start_paused = true)]
async fn a_throttled_caller_is_served_again_after_the_wait_it_was_told() {
    let server = Server::start(|config| {
        config.rates.anonymous_calls = Some(Rate::new(1, Duration::from_secs(3)));
    });
    let mut wire = server.connect().await;
    assert_eq!(wire.call("hello").await.status, 200);
    let answer = wire.call("hello").await;
    assert_eq!(answer.status, 429);
    let wait = answer.header("retry-after").unwrap().parse().unwrap();
    tokio::time::advance(Duration::from_secs(wait)).await;
    assert_eq!(wire.call("hello").await.status, 200);
}
