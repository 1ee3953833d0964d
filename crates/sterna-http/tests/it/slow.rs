//! Peers that take their time. The clock is stopped: it moves on only when
//! everybody waits.

use std::time::Duration;

use tokio::time::Instant;

use crate::desk::Server;
use crate::wire::{Wire, post};

#[track_caller]
fn took(start: Instant, expected: Duration) {
    let took = start.elapsed();
    let off = took.abs_diff(expected);
    assert!(
        off < Duration::from_millis(50),
        "{took:?}, not {expected:?}"
    );
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_connection_that_says_nothing_is_closed() {
    let server = Server::start(|_| {});
    let start = Instant::now();
    assert!(server.connect().await.is_closed().await);
    took(start, 10 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_trickles_in_is_cut_off() {
    let server = Server::start(|_| {});
    let request = post("", "x");
    for used_before in [false, true] {
        let mut wire = server.connect().await;
        if used_before {
            wire.call("x").await;
            tokio::time::advance(20 * SECOND).await;
        }
        let start = Instant::now();
        for letter in request.chars() {
            wire.try_send(letter.to_string().as_bytes()).await;
            if tokio::time::timeout(SECOND, wire.is_closed()).await == Ok(true) {
                break;
            }
        }
        took(start, 10 * SECOND);
    }
}

#[tokio::test(start_paused = true)]
async fn half_of_the_preface_of_http2_is_cut_off() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    wire.send("PRI * HTTP/2.0\r\n").await;
    let start = Instant::now();
    assert!(wire.is_closed().await);
    took(start, 10 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_trickles_in_is_refused() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    let request = post("", &"x".repeat(1000));
    let (head, body) = request.split_at(request.len() - 1000);
    wire.send(head).await;
    let start = Instant::now();
    let mut trickle = tokio::time::interval(SECOND);
    let letters = body.as_bytes();
    let answer = loop {
        let next = usize::try_from(start.elapsed().as_secs()).unwrap();
        wire.try_send(&letters[next..=next]).await;
        tokio::select! {
            biased;
            answer = wire.answer() => break answer,
            _ = trickle.tick() => {}
        }
    };
    assert_eq!(answer.status, 408);
    took(start, 60 * SECOND);
    assert_eq!(
        server.state.begun.load(std::sync::atomic::Ordering::SeqCst),
        0
    );
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_kept_for_a_while() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    wire.call("x").await;
    tokio::time::advance(70 * SECOND).await;
    wire.call("x").await;
    let start = Instant::now();
    assert!(wire.is_closed().await);
    took(start, 75 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_stops_reading_is_cut_off_and_its_call_dropped() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    wire.send(&post("", "flood")).await;
    server.begun(1).await;
    let start = Instant::now();
    server.ended(1).await;
    took(start, 30 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_stops_reading_a_plain_answer_is_cut_off_too() {
    let server = Server::start(|config| config.metrics = true);
    let mut unread = server.connect().await;
    unread.send(&post("", "big")).await;
    server.ended(1).await;
    let start = Instant::now();
    let mut wire = server.connect().await;
    let cut = "sterna_http_connections_cut_total 1\n";
    while !wire.get("/metrics").await.body.contains(cut) {
        tokio::time::advance(SECOND).await;
    }
    let took = start.elapsed().as_secs();
    assert!((29..=31).contains(&took), "{took}");
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_is_kept_alive_by_comments() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    wire.send(&post("", "stream word")).await;
    let head = wire.head().await;
    assert!(
        head.contains("content-type: text/event-stream\r\n"),
        "{head}"
    );
    assert!(head.contains("cache-control: no-cache\r\n"), "{head}");
    assert!(head.contains("x-accel-buffering: no\r\n"), "{head}");
    assert_eq!(wire.chunk().await, "data: word\n\n");
    for _ in 0..3 {
        let start = Instant::now();
        assert_eq!(wire.chunk().await, ":\n\n");
        took(start, 15 * SECOND);
    }
    server.release(1).await;
    assert_eq!(wire.chunk().await, "");
    assert_eq!(wire.call("x").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_cut_off() {
    let server = Server::start(|config| config.timeouts.call = 100 * SECOND);
    let mut wire = server.connect().await;
    let start = Instant::now();
    let answer = wire.call("hang").await;
    assert_eq!(answer.status, 504);
    took(start, 102 * SECOND);
    server.ended(1).await;
    assert_eq!(wire.call("x").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_takes_too_long_is_broken_off() {
    let server = Server::start(|config| config.timeouts.call = 20 * SECOND);
    let mut wire = server.connect().await;
    wire.send(&post("", "stream word")).await;
    let start = Instant::now();
    let said = wire.rest().await;
    took(start, 22 * SECOND);
    assert!(
        !said.ends_with("\r\n0\r\n\r\n"),
        "it must not look whole: {said}"
    );
    server.ended(1).await;
}

#[tokio::test]
async fn times_may_be_as_long_as_one_likes() {
    let server = Server::start(|config| {
        let timeouts = &mut config.timeouts;
        for time in [
            &mut timeouts.head,
            &mut timeouts.body,
            &mut timeouts.idle,
            &mut timeouts.write,
            &mut timeouts.call,
            &mut timeouts.keep_alive,
            &mut timeouts.drain,
        ] {
            *time = Duration::MAX;
        }
    });
    let mut wire = server.connect().await;
    assert_eq!(wire.call("x").await.status, 200);
    wire.send(&post("", "stream word")).await;
    wire.head().await;
    assert_eq!(wire.chunk().await, "data: word\n\n");
    server.release(2).await;
    assert_eq!(wire.chunk().await, "");
}

#[tokio::test(start_paused = true)]
async fn a_subscription_may_outlast_every_call() {
    let server = Server::start(|config| config.timeouts.call = 20 * SECOND);
    let mut wire = server.connect().await;
    wire.send(&post("", "listen")).await;
    wire.head().await;
    assert_eq!(wire.chunk().await, "data: hello\n\n");
    let start = Instant::now();
    while start.elapsed() < 3600 * SECOND {
        assert_eq!(wire.chunk().await, ":\n\n");
    }
    server.shutdown.begin();
    assert_eq!(wire.chunk().await, "data: goodbye\n\n");
    assert_eq!(wire.chunk().await, "");
}

async fn hang(server: &Server) -> Wire {
    let mut wire = server.connect().await;
    wire.send(&post("", "hang")).await;
    server.begun(1).await;
    wire
}

#[tokio::test]
async fn a_peer_that_goes_away_takes_its_call_along() {
    let server = Server::start(|_| {});
    drop(hang(&server).await);
    server.ended(1).await;

    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    wire.send(&post("", "stream word")).await;
    wire.head().await;
    drop(wire);
    server.ended(1).await;
}
