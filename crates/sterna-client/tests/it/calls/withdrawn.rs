//! Calls of a session over HTTP that are taken back, at this workspace's own
//! server.
//!
//! That server drops a handler whose connection is closed as well, so there is
//! a proxy in between which keeps its connections to the server, as many do.

use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sterna_client::oauth::OAuth;
use sterna_client::{Client, Direction, Era};
use sterna_server::{Cx, Server};
use tokio::io::copy;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::rounds::text;
use crate::world::{Reply, serve, user};

/// Signals of the handler to the test.
#[derive(Default)]
struct Handler {
    begun: Notify,
    stopped: Notify,
}

struct Stopped<'a>(&'a Handler);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        self.0.stopped.notify_one();
    }
}

async fn hang(cx: Cx<'_>, (): ()) -> String {
    let handler: &Arc<Handler> = cx.state();
    let _stopped = Stopped(handler);
    handler.begun.notify_one();
    Notify::new().notified().await;
    unreachable!("no notification is sent")
}

async fn quick(_: Cx<'_>, (): ()) -> String {
    "done".to_owned()
}

/// The port of a proxy that never lets the server at `port` know that a client
/// has gone.
async fn proxy(tasks: &mut JoinSet<()>, port: u16) -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port();
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        loop {
            let (near, _) = listener.accept().await.unwrap();
            let far = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let (mut from_client, mut to_client) = near.into_split();
            let (mut from_server, mut to_server) = far.into_split();
            connections.spawn(async move {
                copy(&mut from_client, &mut to_server).await.ok();
                std::future::pending::<()>().await;
            });
            connections.spawn(async move {
                copy(&mut from_server, &mut to_client).await.ok();
            });
        }
    });
    own
}

impl Handler {
    async fn is_stopped(&self) {
        let stopped = tokio::time::timeout(Duration::from_secs(20), self.stopped.notified());
        stopped.await.expect("the handler is stopped");
    }
}

/// A client in a session with a server that lives as long as the set, and the
/// messages it sends.
async fn session(tasks: &mut JoinSet<()>) -> (Client, Arc<Handler>, Arc<Mutex<Vec<Value>>>) {
    let handler: Arc<Handler> = Arc::default();
    let server = Server::new("legacy", "1")
        .state(handler.clone())
        .tool("hang", "Never ends", hang)
        .tool("quick", "Ends at once", quick)
        .build()
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = proxy(tasks, listener.local_addr().unwrap().port()).await;
    let url = format!("http://127.0.0.1:{port}/mcp");
    tasks.spawn(async move {
        let forever = std::future::pending();
        server.serve_on(listener, forever).await.unwrap();
    });
    let sent: Arc<Mutex<Vec<Value>>> = Arc::default();
    let log = sent.clone();
    let client = Client::builder(&url)
        .era(Era::Legacy)
        .on_wire(move |message| {
            if message.direction == Direction::Sent {
                let body = serde_json::from_slice(message.body).unwrap();
                log.lock().unwrap().push(body);
            }
        })
        .connect()
        .await
        .unwrap();
    (client, handler, sent)
}

/// The ids of the calls that were made, and of those that were taken back.
fn ids(sent: &Mutex<Vec<Value>>) -> (Vec<Value>, Vec<Value>) {
    let sent = sent.lock().unwrap();
    let these = |method: &str, place: &str| {
        let these = sent.iter().filter(|message| message["method"] == method);
        these
            .map(|message| message.pointer(place).unwrap().clone())
            .collect()
    };
    (
        these("tools/call", "/id"),
        these("notifications/cancelled", "/params/requestId"),
    )
}

#[tokio::test]
async fn a_dropped_call_of_a_session_stops_the_handler() {
    let mut tasks = JoinSet::new();
    let (client, handler, sent) = session(&mut tasks).await;
    assert_eq!(text(&client.call("quick").await.unwrap()), "done");
    let mut call = client.call("hang").into_future();
    tokio::select! {
        ended = &mut call => panic!("{ended:?}"),
        () = handler.begun.notified() => {}
    }
    drop(call);
    // A caller that drops the call and the client.
    drop(client);
    handler.is_stopped().await;
    let (called, cancelled) = ids(&sent);
    assert_eq!(
        cancelled,
        called[1..],
        "what was answered is not taken back"
    );
}

#[tokio::test]
async fn a_call_of_a_session_is_cancelled_by_its_handle() {
    let mut tasks = JoinSet::new();
    let (client, handler, sent) = session(&mut tasks).await;
    let call = client.call("hang");
    let handle = call.handle();
    let (ended, ()) = tokio::join!(call.into_future(), async {
        handler.begun.notified().await;
        handle.cancel();
    });
    assert_eq!(ended.unwrap_err().code(), "MR0514");
    handler.is_stopped().await;
    let (called, cancelled) = ids(&sent);
    assert_eq!(cancelled, called);
}

#[tokio::test]
async fn a_call_of_a_session_that_takes_too_long_is_cancelled() {
    let mut tasks = JoinSet::new();
    let (client, handler, sent) = session(&mut tasks).await;
    let call = client.call("hang").timeout(Duration::from_secs(5));
    let (ended, ()) = tokio::join!(call.into_future(), async {
        handler.begun.notified().await;
        // From here on the clock jumps as soon as everybody waits.
        tokio::time::pause();
    });
    assert_eq!(ended.unwrap_err().code(), "MR0506");
    tokio::time::resume();
    handler.is_stopped().await;
    let (called, cancelled) = ids(&sent);
    assert_eq!(cancelled, called);
}

#[tokio::test]
async fn a_call_dropped_during_a_sign_in_does_not_ask_for_another() {
    let lookups: Arc<Notify> = Arc::default();
    let count: Arc<AtomicUsize> = Arc::default();
    let told: Arc<Notify> = Arc::default();
    let (looked, counted, heard) = (lookups.clone(), count.clone(), told.clone());
    let origin = serve(move |asked| {
        let (looked, counted, heard) = (looked.clone(), counted.clone(), heard.clone());
        async move {
            if asked.path.starts_with("/.well-known") {
                counted.fetch_add(1, Ordering::SeqCst);
                looked.notify_one();
                // The sign-in goes no further.
                return std::future::pending().await;
            }
            let body: Value = serde_json::from_str(&asked.body).unwrap_or_default();
            match body["method"].as_str() {
                Some("initialize") => {
                    let result = json!({"protocolVersion": "2025-11-25", "capabilities": {},
                        "serverInfo": {"name": "old", "version": "1"}});
                    let body = json!({"jsonrpc": "2.0", "id": body["id"], "result": result});
                    Reply::json(200, &body).with("mcp-session-id", "1")
                }
                Some("notifications/cancelled") => {
                    heard.notify_one();
                    Reply::status(401)
                }
                Some("tools/call") => Reply::status(401),
                Some("prompts/get") => {
                    let result = json!({"messages": []});
                    let body = json!({"jsonrpc": "2.0", "id": body["id"], "result": result});
                    Reply::json(200, &body)
                }
                _ => Reply::status(202),
            }
        }
    })
    .await;
    let url = format!("{origin}/mcp");
    let auth = OAuth::builder(&*url, user()).build().unwrap();
    let client = Client::builder(&url).era(Era::Legacy).auth(auth);
    let client = client.connect().await.unwrap();
    let mut call = client.call("t").into_future();
    tokio::select! {
        ended = &mut call => panic!("{ended:?}"),
        () = lookups.notified() => {}
    }
    drop(call);
    told.notified().await;
    // A late message would have been on its way by now.
    for _ in 0..3 {
        client.prompt("p").await.unwrap();
    }
    assert_eq!(count.load(Ordering::SeqCst), 1);
}
