//! HTTP/2 without TLS, as a proxy in front speaks it.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::desk::Server;

struct Client {
    send: SendRequest<Full<Bytes>>,
    connection: JoinSet<()>,
}

impl Client {
    async fn connect(server: &Server) -> Self {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let (send, driver) = Builder::new(TokioExecutor::new())
            .handshake(TokioIo::new(stream))
            .await
            .unwrap();
        let mut connection = JoinSet::new();
        connection.spawn(async move {
            let _ = driver.await;
        });
        Self { send, connection }
    }

    async fn call(&mut self, body: &str) -> Response<Incoming> {
        self.send.ready().await.unwrap();
        self.send.send_request(post(body)).await.unwrap()
    }
}

fn post(body: &str) -> Request<Full<Bytes>> {
    Request::post("http://localhost/mcp")
        .header("content-type", "application/json")
        .body(Full::from(body.to_owned()))
        .unwrap()
}

async fn text(response: Response<Incoming>) -> String {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

#[tokio::test]
async fn calls_on_one_connection_run_side_by_side() {
    let server = Server::start(|_| {});
    let client = Client::connect(&server).await;
    let mut calls = JoinSet::new();
    for _ in 0..50 {
        let mut send = client.send.clone();
        calls.spawn(async move { text(send.send_request(post("wait")).await.unwrap()).await });
    }
    server.release(50).await;
    while let Some(call) = calls.join_next().await {
        assert_eq!(call.unwrap(), "waited");
    }
}

#[tokio::test]
async fn the_authority_is_the_host() {
    let server = Server::start(|_| {});
    let mut client = Client::connect(&server).await;
    let mut foreign = post("x");
    *foreign.uri_mut() = "http://evil.example/mcp".parse().unwrap();
    let answer = client.send.send_request(foreign).await.unwrap();
    assert_eq!(answer.status(), 403);
    assert_eq!(client.call("x").await.status(), 200);
}

#[tokio::test]
async fn a_call_that_is_reset_is_dropped_and_its_neighbours_are_not() {
    let server = Server::start(|_| {});
    let mut client = Client::connect(&server).await;
    let mut neighbour = client.send.clone();
    let neighbour = async {
        let answer = neighbour.send_request(post("wait")).await.unwrap();
        text(answer).await
    };
    let (said, ()) = tokio::join!(neighbour, async {
        let mut hanging = client.send.clone();
        {
            let mut call = std::pin::pin!(hanging.send_request(post("hang")));
            tokio::select! {
                _ = &mut call => unreachable!("it hangs"),
                () = server.begun(2) => {}
            }
        }
        server.ended(1).await;
        assert_eq!(client.call("panic").await.status(), 500);
        server.release(3).await;
    });
    assert_eq!(said, "waited");
}

#[tokio::test]
async fn a_stream_that_is_let_go_is_cancelled() {
    let server = Server::start(|_| {});
    let mut client = Client::connect(&server).await;
    let mut answer = client.call("stream word").await;
    let frame = answer.body_mut().frame().await.unwrap().unwrap();
    assert_eq!(frame.into_data().unwrap(), "data: word\n\n");
    drop(answer);
    server.ended(1).await;
}

/// On HTTP/2 the socket stays writable: it is the stream that has no room.
#[tokio::test(start_paused = true)]
async fn a_stream_that_is_not_read_is_cut_off() {
    let server = Server::start(|_| {});
    let mut client = Client::connect(&server).await;
    let _unread = client.call("flood").await;
    let start = Instant::now();
    server.ended(1).await;
    let took = start.elapsed();
    assert!(took >= Duration::from_secs(29), "{took:?}");
    assert!(took <= Duration::from_secs(61), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_calls_is_let_go() {
    let server = Server::start(|_| {});
    let mut client = Client::connect(&server).await;
    assert_eq!(client.call("x").await.status(), 200);
    let start = Instant::now();
    client.connection.join_next().await.unwrap().unwrap();
    let took = start.elapsed().as_secs();
    assert!((74..=90).contains(&took), "{took}");
}

#[tokio::test]
async fn running_calls_are_finished_when_the_server_goes_away() {
    let mut server = Server::start(|_| {});
    let mut client = Client::connect(&server).await;
    let mut send = client.send.clone();
    let waiting = async { text(send.send_request(post("wait")).await.unwrap()).await };
    let (said, ()) = tokio::join!(waiting, async {
        server.begun(1).await;
        server.shutdown.begin();
        client.call("listen").await;
        server.release(2).await;
    });
    assert_eq!(said, "waited");
    drop(client.send);
    assert_eq!(server.drained().await.aborted, 0);
}

#[tokio::test]
async fn a_refused_call_leaves_the_connection_to_the_others() {
    let server = Server::start(|config| config.limits.calls = 1);
    let client = Client::connect(&server).await;
    let mut waiting = client.send.clone();
    let mut calls = JoinSet::new();
    calls.spawn(async move { text(waiting.send_request(post("wait")).await.unwrap()).await });
    server.begun(1).await;
    let large = "x".repeat(3 << 20);
    for _ in 0..20 {
        let mut send = client.send.clone();
        let answer = send.send_request(post(&large)).await.unwrap();
        assert_eq!(answer.status(), 503);
        assert_eq!(answer.headers().get("connection"), None);
    }
    server.release(1).await;
    assert_eq!(calls.join_next().await.unwrap().unwrap(), "waited");
}

#[tokio::test]
async fn one_connection_too_many_is_told_to_come_again() {
    let server = Server::start(|config| config.limits.connections = 1);
    let mut busy = Client::connect(&server).await;
    let mut waiting = busy.send.clone();
    let mut calls = JoinSet::new();
    calls.spawn(async move { text(waiting.send_request(post("wait")).await.unwrap()).await });
    server.begun(1).await;
    let mut client = Client::connect(&server).await;
    assert_eq!(client.call("x").await.status(), 503);
    let ended = tokio::time::timeout(Duration::from_secs(5), client.connection.join_next());
    assert!(ended.await.is_ok(), "the connection stays open");
    server.release(1).await;
    assert_eq!(calls.join_next().await.unwrap().unwrap(), "waited");
    assert_eq!(text(busy.call("x").await).await, "x");
}

/// A whole answer is held to the same time as a stream.
#[tokio::test(start_paused = true)]
async fn a_plain_answer_that_is_not_read_is_cut_off() {
    let server = Server::start(|_| {});
    let mut client = Client::connect(&server).await;
    let _unread = client.call("big").await;
    let start = Instant::now();
    let closed = client.connection.join_next();
    let closed = tokio::time::timeout(Duration::from_secs(120), closed).await;
    assert!(closed.is_ok(), "still open after two minutes");
    let took = start.elapsed();
    assert!(took >= Duration::from_secs(29), "{took:?}");
    assert!(took <= Duration::from_secs(61), "{took:?}");
}

#[tokio::test]
async fn a_plain_answer_that_is_read_slowly_arrives_whole() {
    let server = Server::start(|_| {});
    let mut client = Client::connect(&server).await;
    let answer = text(client.call("big").await).await;
    assert_eq!(answer.len(), 64 << 20);
}

#[tokio::test]
async fn the_answers_of_one_connection_share_the_budget_with_all_others() {
    let server = Server::start(|config| config.limits.buffered_bytes = 100 << 20);
    let mut client = Client::connect(&server).await;
    let unread = client.call("big").await;
    assert_eq!(unread.status(), 200);
    let mut other = Client::connect(&server).await;
    assert_eq!(other.call("big").await.status(), 503);
    drop(unread);
    while other.call("big").await.status() != 200 {}
}

#[tokio::test]
async fn probes_are_answered_when_no_memory_is_left() {
    // One large answer, and what is charged for its stream.
    let server = Server::start(|config| config.limits.buffered_bytes = (64 << 20) + 1024);
    let mut client = Client::connect(&server).await;
    let unread = client.call("big").await;
    assert_eq!(unread.status(), 200);
    let mut other = Client::connect(&server).await;
    assert_eq!(other.call("hello").await.status(), 503);
    let mut probe = post("");
    *probe.method_mut() = http::Method::GET;
    *probe.uri_mut() = "http://localhost/livez".parse().unwrap();
    let alive = other.send.send_request(probe).await.unwrap();
    assert_eq!(alive.status(), 200);
}
