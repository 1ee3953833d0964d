//! One caller, or one connection too many, leaves room for the others.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use sterna_http::auth::{Gate, StaticTokens};
use sterna_http::{HttpConfig, HttpServer, Peer, Probes};
use tokio::time::timeout;
use tower_service::Service as _;

use crate::desk::{Desk, Server};
use crate::wire::{Wire, post};

const ALICE: &str = "Authorization: Bearer one\r\n";
const BOB: &str = "Authorization: Bearer two\r\n";

fn two_callers(change: impl FnOnce(&mut HttpConfig)) -> Server {
    let tokens = StaticTokens::parse("one alice\ntwo bob").unwrap();
    Server::guarded(Gate::guarded(tokens), Probes::new(), change)
}

#[tokio::test]
async fn one_caller_runs_half_of_the_calls_and_leaves_the_rest_to_others() {
    let server = two_callers(|config| config.limits.calls = 4);
    let mut busy = [server.connect().await, server.connect().await];
    for wire in &mut busy {
        wire.send(&post(ALICE, "wait")).await;
    }
    server.begun(2).await;
    let mut wire = server.connect().await;
    let refused = wire.call_with(ALICE, "who").await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(refused.body.contains("2 calls"), "{}", refused.body);
    assert_eq!(wire.call_with(BOB, "who").await.body, "Some(\"bob\")");
    server.release(2).await;
    for wire in &mut busy {
        assert_eq!(wire.answer().await.body, "waited");
    }
    assert_eq!(wire.call_with(ALICE, "who").await.body, "Some(\"alice\")");
}

#[tokio::test]
async fn one_caller_holds_half_of_the_listeners() {
    let server = two_callers(|config| config.limits.listeners = 4);
    let mut streams = Vec::new();
    for expected in [200, 200, 429] {
        let mut wire = server.connect().await;
        wire.send(&post(ALICE, "listen")).await;
        let head = wire.head().await;
        assert!(head.contains(&format!(" {expected} ")), "{head}");
        streams.push(wire);
    }
    let mut wire = server.connect().await;
    wire.send(&post(BOB, "listen")).await;
    assert!(wire.head().await.contains(" 200 "));
}

#[tokio::test(start_paused = true)]
async fn one_address_without_a_name_leaves_room_for_others() {
    let mut config = HttpConfig::default();
    config.limits.calls = 4;
    let edge = HttpServer::new(Desk::default(), Gate::open(), Probes::new(), config).unwrap();
    let start = |peer: &str, body: &'static str| {
        let peer = Peer(peer.parse().unwrap());
        let request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .extension(peer)
            .body(Full::new(Bytes::from(body)))
            .unwrap();
        let mut edge = edge.clone();
        async move { edge.call(request).await.unwrap().status().as_u16() }
    };
    let mut held = tokio::task::JoinSet::new();
    // Addresses of one IPv6 network are one caller's.
    for peer in ["[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::3]:1"] {
        held.spawn(start(peer, "hang"));
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(start("[2001:db8::4]:1", "x").await, 429);
    assert_eq!(start("[2001:db8:0:1::1]:1", "x").await, 200);
    assert_eq!(start("10.0.0.1:1", "x").await, 200);
    // A client on the same machine is not told apart from a proxy there.
    assert_eq!(start("127.0.0.1:1", "x").await, 200);
}

/// An answer that must come at once.
async fn soon<T>(answering: impl Future<Output = T>) -> T {
    let answered = timeout(Duration::from_secs(5), answering).await;
    answered.expect("there is no answer")
}

#[tokio::test]
async fn the_connection_that_was_idle_for_longest_makes_room() {
    let server = Server::start(|config| config.limits.connections = 3);
    let mut wires = Vec::new();
    for _ in 0..3 {
        let mut wire = server.connect().await;
        assert_eq!(wire.call("x").await.status, 200);
        wires.push(wire);
    }
    assert_eq!(wires[0].call("x").await.status, 200);
    let mut newcomer = server.connect().await;
    assert_eq!(soon(newcomer.call("x")).await.status, 200);
    assert!(soon(wires[1].is_closed()).await);
    for used in [0, 2] {
        assert_eq!(wires[used].call("x").await.status, 200, "{used}");
    }
}

#[tokio::test]
async fn connections_that_never_said_anything_make_room() {
    let server = Server::start(|config| config.limits.connections = 8);
    let mut silent = Vec::new();
    for _ in 0..64 {
        silent.push(server.connect().await);
    }
    for _ in 0..16 {
        let mut wire = server.connect().await;
        assert_eq!(soon(wire.get("/livez")).await.status, 200);
        assert_eq!(soon(wire.call("x")).await.status, 200);
        silent.push(wire);
    }
}

#[tokio::test]
async fn probes_are_answered_while_every_connection_is_busy() {
    let server = Server::start(|config| config.limits.connections = 2);
    let mut busy = [server.connect().await, server.connect().await];
    for wire in &mut busy {
        wire.send(&post("", "wait")).await;
    }
    server.begun(2).await;
    let mut idle = Vec::new();
    for _ in 0..100 {
        idle.push(server.connect().await);
    }
    for path in ["/livez", "/readyz"] {
        let mut wire = server.connect().await;
        let answer = soon(wire.get(path)).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("connection"), Some("close"), "{path}");
    }
    let mut wire = server.connect().await;
    let refused = soon(wire.call("x")).await;
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.header("connection"), Some("close"));
    server.release(2).await;
    for wire in &mut busy {
        assert_eq!(wire.answer().await.body, "waited");
    }
    drop(idle);
    let mut wire: Wire = server.connect().await;
    assert_eq!(soon(wire.call("x")).await.status, 200);
}
