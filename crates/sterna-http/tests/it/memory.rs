//! Memory that peers make the server hold: requests, parsed JSON, answers.

use std::time::Duration;

use crate::desk::Server;
use crate::wire::post;

/// Longer than a slow reader is left alone when memory is short, on a machine
/// that is busy.
const LONGEST: Duration = Duration::from_secs(10);

#[tokio::test]
async fn answers_that_are_not_read_share_one_budget_and_give_it_back() {
    let server = Server::start(|config| config.limits.buffered_bytes = 100 << 20);
    let mut unread = server.connect().await;
    unread.send(&post("", "big")).await;
    server.ended(1).await;
    // The answer of 64 MiB is written in pieces, so the first one is still held.
    let mut wire = server.connect().await;
    let refused = wire.call("big").await;
    assert_eq!(refused.status, 503);
    assert!(
        refused.body.contains("no memory for its answer"),
        "{}",
        refused.body
    );
    drop(unread);
    while wire.call("big").await.status != 200 {}
}

#[tokio::test]
async fn nothing_is_begun_while_three_quarters_of_the_memory_are_taken() {
    let server = Server::start(|config| config.limits.buffered_bytes = 80 << 20);
    let mut unread = server.connect().await;
    unread.send(&post("", "big")).await;
    server.ended(1).await;
    let mut wire = server.connect().await;
    let refused = wire.call("hello").await;
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    let begun = &server.state.begun;
    assert_eq!(begun.load(std::sync::atomic::Ordering::SeqCst), 1);
    assert_eq!(wire.get("/livez").await.status, 200);
    drop(unread);
    while wire.call("hello").await.status != 200 {}
}

#[tokio::test]
async fn a_connection_that_does_not_read_is_cut_off_when_memory_is_short() {
    let server = Server::start(|config| {
        config.limits.buffered_bytes = 80 << 20;
        config.timeouts.write = Duration::MAX;
        config.metrics = true;
    });
    let mut unread = server.connect().await;
    unread.send(&post("", "big")).await;
    server.ended(1).await;
    // The clock is not paused: with sockets it would run ahead of what the test is about.
    let mut wire = server.connect().await;
    let served = async { while wire.call("hello").await.status != 200 {} };
    let in_time = tokio::time::timeout(LONGEST, served).await;
    assert!(in_time.is_ok(), "the slow reader keeps its memory");
    let cut = "sterna_http_connections_cut_total 1\n";
    assert!(wire.get("/metrics").await.body.contains(cut));
    drop(unread);
}

#[tokio::test]
async fn a_body_whose_values_take_too_much_memory_is_refused_unread() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    let lists = format!("[{}[]]", "[],".repeat(1 << 20));
    let refused = wire.call(&lists).await;
    assert_eq!(refused.status, 413);
    assert!(
        refused.body.contains("more values than this server takes"),
        "{}",
        refused.body
    );
    // As many brackets in a text are a text.
    let text = format!("size \"{}\"", "[],".repeat(1 << 20));
    let mut wire = server.connect().await;
    assert_eq!(wire.call(&text).await.body, text.len().to_string());
    let begun = &server.state.begun;
    assert_eq!(begun.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[tokio::test]
async fn values_that_are_being_worked_on_are_charged_to_the_budget() {
    let server = Server::start(|config| config.limits.buffered_bytes = 80 << 20);
    let lists = format!("wait [{}[]]", "[],".repeat(50_000));
    let mut one = server.connect().await;
    one.send(&post("", &lists)).await;
    server.begun(1).await;
    let mut two = server.connect().await;
    assert_eq!(two.call(&lists).await.status, 503);
    // Requests have half of the memory, so they do not keep small ones out.
    let mut small = server.connect().await;
    assert_eq!(small.call("hello").await.status, 200);
    server.release(1).await;
    assert_eq!(one.answer().await.body, "waited");
    let mut three = server.connect().await;
    three.send(&post("", &lists)).await;
    server.release(3).await;
    assert_eq!(three.answer().await.body, "waited");
}
