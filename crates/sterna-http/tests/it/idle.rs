//! A server that ends when nothing has been asked of it for a while.

use std::time::Duration;

use sterna_http::DrainReport;
use tokio::time::{Instant, sleep};

use crate::desk::Server;
use crate::wire::post;

const LIMIT: Duration = Duration::from_secs(60);

fn server() -> Server {
    Server::start(|config| config.timeouts.exit_when_idle = Some(LIMIT))
}

/// Waits for the end, and returns how long that took.
async fn end(server: &mut Server) -> Duration {
    let start = Instant::now();
    let DrainReport { aborted, .. } = server.drained().await;
    assert_eq!(aborted, 0);
    start.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_server_without_a_request_ends_by_itself() {
    let took = end(&mut server()).await;
    assert_eq!(took.as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn each_request_begins_the_time_anew_and_an_idle_connection_does_not_hold_it_up() {
    let mut server = server();
    let mut wire = server.connect().await;
    for _ in 0..3 {
        assert_eq!(wire.call("x").await.status, 200);
        sleep(Duration::from_secs(50)).await;
    }
    assert_eq!(wire.call("x").await.status, 200);
    let took = end(&mut server).await;
    assert!((60..62).contains(&took.as_secs()), "{took:?}");
    assert!(wire.is_closed().await);
}

#[tokio::test(start_paused = true)]
async fn a_server_does_not_end_while_a_call_runs() {
    let mut server = server();
    let mut wire = server.connect().await;
    wire.send(&post("", "wait")).await;
    server.begun(1).await;
    sleep(5 * LIMIT).await;
    server.release(1).await;
    assert_eq!(wire.answer().await.body, "waited");
    let took = end(&mut server).await;
    assert!((60..62).contains(&took.as_secs()), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_does_not_end_while_a_stream_is_open() {
    let mut server = server();
    let mut wire = server.connect().await;
    wire.send(&post("", "listen")).await;
    wire.head().await;
    assert_eq!(wire.chunk().await, "data: hello\n\n");
    let mut kept_alive = 0;
    let since = Instant::now();
    while since.elapsed() < 5 * LIMIT {
        // A comment keeps the connection alive.
        assert!(!wire.chunk().await.is_empty());
        kept_alive += 1;
    }
    assert!(kept_alive >= 5);
    drop(wire);
    let took = end(&mut server).await;
    assert!((60..80).contains(&took.as_secs()), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_does_not_end_while_a_body_arrives() {
    let mut server = Server::start(|config| {
        config.timeouts.exit_when_idle = Some(Duration::from_secs(5));
    });
    let mut wire = server.connect().await;
    let request = post("", "slowly");
    let (first, rest) = request.split_at(request.len() - 3);
    wire.send(first).await;
    sleep(Duration::from_secs(20)).await;
    wire.send(rest).await;
    assert_eq!(wire.answer().await.status, 200);
    let took = end(&mut server).await;
    assert!((5..7).contains(&took.as_secs()), "{took:?}");
}
