//! Going away without losing anything.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sterna_http::auth::Gate;
use sterna_http::{HttpConfig, HttpServer, Probes};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::desk::{Desk, Server};
use crate::wire::post;

#[tokio::test(start_paused = true)]
async fn an_idle_connection_does_not_hold_the_server_up() {
    let server = Server::start(|_| {});
    let mut used = server.connect().await;
    used.call("x").await;
    assert_eq!(used.get("/nowhere").await.status, 404);
    let mut fresh = server.connect().await;
    let start = Instant::now();
    assert_eq!(server.stop().await.aborted, 0);
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert!(used.is_closed().await);
    assert!(fresh.is_closed().await);
}

#[tokio::test]
async fn a_running_call_is_finished_and_new_connections_are_refused() {
    let mut server = Server::start(|_| {});
    let mut wire = server.connect().await;
    wire.send(&post("", "wait")).await;
    server.begun(1).await;
    server.shutdown.begin();
    while TcpStream::connect(server.address).await.is_ok() {}
    server.release(1).await;
    let answer = wire.answer().await;
    assert_eq!(answer.body, "waited");
    assert_eq!(answer.header("connection"), Some("close"));
    assert!(wire.is_closed().await);
    assert_eq!(server.drained().await.aborted, 0);
}

#[tokio::test]
async fn a_long_stream_hears_of_it_and_says_its_last_word() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    wire.send(&post("", "listen")).await;
    wire.head().await;
    assert_eq!(wire.chunk().await, "data: hello\n\n");
    assert_eq!(server.stop().await.aborted, 0);
    assert_eq!(wire.chunk().await, "data: goodbye\n\n");
    assert_eq!(wire.chunk().await, "");
    assert!(wire.is_closed().await);
}

#[tokio::test]
async fn a_server_serves_until_it_is_told_to_stop_or_cannot_begin() {
    let edge = || {
        let (gate, probes) = (Gate::open(), Probes::new());
        HttpServer::new(Desk::default(), gate, probes, HttpConfig::default()).unwrap()
    };
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let error = edge().serve(address, async {}).await.unwrap_err();
    assert_eq!(error.to_string(), "the server could not listen");
    let done = edge().serve("127.0.0.1:0", async {}).await.unwrap();
    assert_eq!(done.aborted, 0);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_is_cut_when_the_time_is_over() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    wire.send(&post("", "hang")).await;
    server.begun(1).await;
    let start = Instant::now();
    assert_eq!(server.stop().await.aborted, 1);
    assert_eq!(start.elapsed().as_secs(), 25);
    assert!(wire.is_closed().await);
}

#[tokio::test(start_paused = true)]
async fn notice_is_given_before_connections_end() {
    let mut server = Server::start(|config| config.timeouts.notice = Duration::from_secs(5));
    let mut wire = server.connect().await;
    assert_eq!(wire.get("/readyz").await.status, 200);
    let start = Instant::now();
    server.shutdown.begin();
    let mut late = server.connect().await;
    let answer = late.get("/readyz").await;
    assert_eq!(answer.status, 503);
    assert!(answer.body.contains("shutdown"), "{}", answer.body);
    assert_eq!(late.get("/livez").await.status, 200);
    assert_eq!(wire.call("x").await.status, 200);
    assert_eq!(server.drained().await.aborted, 0);
    assert_eq!(start.elapsed().as_secs(), 5);
    assert!(wire.is_closed().await);
}

/// Clients call as fast as they can while the server goes away. For every call
/// that the endpoint has finished, a client has read the answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutdown_under_load_loses_no_answer() {
    static ANSWERED: AtomicUsize = AtomicUsize::new(0);
    let server = Server::start(|_| {});
    let state = std::sync::Arc::clone(&server.state);
    let mut clients = JoinSet::new();
    for _ in 0..32 {
        let mut wire = server.connect().await;
        clients.spawn(async move {
            loop {
                wire.try_send(post("", "x").as_bytes()).await;
                if wire.is_closed().await {
                    return;
                }
                assert_eq!(wire.answer().await.status, 200);
                ANSWERED.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    server.begun(2000).await;
    let drained = server.stop().await;
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    assert_eq!(drained.aborted, 0);
    assert_eq!(
        state.begun.load(Ordering::SeqCst),
        ANSWERED.load(Ordering::SeqCst)
    );
}
