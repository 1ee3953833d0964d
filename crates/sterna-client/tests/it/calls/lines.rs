//! Servers at the other end of a pair of streams.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use sterna_client::{Builder, Client, Config, Duplex, Era, ErrorKind};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use super::rounds::text;
use super::scripted::{discovered, done};

/// The server's end of a connection in memory.
pub(super) struct Far {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
}

impl Far {
    pub(super) async fn read(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub(super) async fn say(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    pub(super) async fn result(&mut self, request: &Value, result: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
            .await;
    }
}

pub(super) fn pair() -> (Builder, Far) {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(near);
    let builder = Client::builder(Duplex::new("memory", reader, writer));
    let (reader, writer) = tokio::io::split(far);
    let lines = BufReader::new(reader).lines();
    (builder, Far { lines, writer })
}

/// A modern connection.
pub(super) async fn connected() -> (Client, Far) {
    connected_as(|builder| builder).await
}

/// A modern connection of a client that `prepare` has set up.
pub(super) async fn connected_as(prepare: impl FnOnce(Builder) -> Builder) -> (Client, Far) {
    connected_to(discovered(), prepare).await
}

/// The same, to a server that says this about itself.
pub(super) async fn connected_to(
    hello: Value,
    prepare: impl FnOnce(Builder) -> Builder,
) -> (Client, Far) {
    let (builder, mut far) = pair();
    let (client, ()) = tokio::join!(prepare(builder).connect(), async {
        let probe = far.read().await;
        assert_eq!(probe["method"], "server/discover");
        far.result(&probe, hello).await;
    });
    (client.unwrap(), far)
}

/// A connection to a server of 2025-11-25 with these capabilities.
pub(super) async fn in_session(
    capabilities: Value,
    prepare: impl FnOnce(Builder) -> Builder,
) -> (Client, Far) {
    let (builder, mut far) = pair();
    let connect = prepare(builder.era(Era::Legacy)).connect();
    let (client, ()) = tokio::join!(connect, async {
        let hello = far.read().await;
        let info = json!({"name": "old", "version": "1"});
        let result = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "serverInfo": info});
        far.result(&hello, result).await;
        assert_eq!(far.read().await["method"], "notifications/initialized");
    });
    (client.unwrap(), far)
}

#[tokio::test]
async fn answers_find_their_calls_in_whatever_order_they_come() {
    let (client, mut far) = connected().await;
    let (a, b, ()) = tokio::join!(
        client.call("a").into_future(),
        client.call("b").into_future(),
        async {
            let first = far.read().await;
            let second = far.read().await;
            for request in [second, first] {
                let name = request["params"]["name"].as_str().unwrap().to_owned();
                far.result(&request, done(&name)).await;
            }
        }
    );
    assert_eq!(text(&a.unwrap()), "a");
    assert_eq!(text(&b.unwrap()), "b");
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_in_words_and_its_late_answer_ignored() {
    let (client, mut far) = connected().await;
    let mut call = Box::pin(client.call("slow").into_future());
    let request = tokio::select! {
        ended = &mut call => panic!("{ended:?}"),
        request = far.read() => request,
    };
    drop(call);
    let cancelled = far.read().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], request["id"]);
    far.result(&request, done("too late")).await;

    let (next, ()) = tokio::join!(client.call("next").into_future(), async {
        let request = far.read().await;
        far.result(&request, done("ok")).await;
    });
    assert_eq!(text(&next.unwrap()), "ok");
}

#[tokio::test(start_paused = true)]
async fn silence_is_cancelled_and_progress_buys_time_up_to_the_deadline() {
    let (client, mut far) = connected().await;
    let second = std::time::Duration::from_secs(1);
    let call = client
        .call("slow")
        .timeout(second * 3)
        .deadline(second * 11)
        .on_progress(|_| {});
    let (ended, sent) = tokio::join!(call.into_future(), async {
        let request = far.read().await;
        let token = &request["params"]["_meta"]["progressToken"];
        let mut sent = 0;
        loop {
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": token, "progress": sent}});
            far.say(progress).await;
            sent += 1;
            tokio::select! {
                said = far.read() => {
                    assert_eq!(said["method"], "notifications/cancelled");
                    return sent;
                }
                () = tokio::time::sleep(second * 2) => {}
            }
        }
    });
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Spent);
    assert_eq!(sent, 6, "eleven seconds, one sign of life every two");
}

#[tokio::test]
async fn progress_that_is_not_taken_in_is_dropped_and_not_kept() {
    const TOLD: usize = 10_000;
    let (client, mut far) = connected().await;
    let heard: Arc<AtomicUsize> = Arc::default();
    let count = heard.clone();
    let call = client.call("t").on_progress(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
    });
    let mut call = call.into_future();
    let request = tokio::select! {
        ended = &mut call => panic!("{ended:?}"),
        request = far.read() => request,
    };
    // The call is not polled while all this comes.
    let token = &request["params"]["_meta"]["progressToken"];
    for told in 0..TOLD {
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": token, "progress": told}});
        far.say(progress).await;
    }
    far.result(&request, done("ok")).await;
    assert_eq!(text(&call.await.unwrap()), "ok");
    // What still was in the pipe comes on top of what waits.
    let heard = heard.load(Ordering::SeqCst);
    assert!((1..TOLD / 5).contains(&heard), "{heard}");
}

#[tokio::test]
async fn a_closed_connection_fails_the_waiting_calls() {
    let (client, mut far) = connected().await;
    let (ended, ()) = tokio::join!(client.call("t").into_future(), async {
        far.read().await;
        drop(far);
    });
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Unavailable);
    let error = client.call("t").await.unwrap_err();
    assert_eq!(error.code(), "MR0501");
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_taken_for_a_legacy_one_and_asks_through_the_same_handlers() {
    let (builder, mut far) = pair();
    let builder = builder.on_roots(|_| async {
        // Longer than any timeout: a person's time does not count.
        tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
        Ok(vec![sterna_protocol::roots::Root::new("file:///srv")])
    });
    let (client, ()) = tokio::join!(builder.connect(), async {
        assert_eq!(far.read().await["method"], "server/discover");
        assert_eq!(far.read().await["method"], "notifications/cancelled");
        let hello = far.read().await;
        assert_eq!(hello["method"], "initialize");
        far.result(
            &hello,
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "serverInfo": {"name": "old", "version": "1"},
            }),
        )
        .await;
        assert_eq!(far.read().await["method"], "notifications/initialized");
    });
    let client = client.unwrap();
    assert_eq!(client.era(), Era::Legacy);
    let (result, ()) = tokio::join!(client.call("t").into_future(), async {
        let call = far.read().await;
        far.say(json!({"jsonrpc": "2.0", "id": 7, "method": "ping"}))
            .await;
        let pong = far.read().await;
        assert_eq!(pong.to_string(), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
        far.say(json!({"jsonrpc": "2.0", "id": 8, "method": "roots/list"}))
            .await;
        let roots = far.read().await;
        assert_eq!(roots["result"]["roots"][0]["uri"], "file:///srv");
        far.say(json!({"jsonrpc": "2.0", "id": 9, "method": "tasks/list"}))
            .await;
        assert_eq!(far.read().await["error"]["code"], -32601);
        far.result(&call, json!({"content": [{"type": "text", "text": "ok"}]}))
            .await;
    });
    assert_eq!(text(&result.unwrap()), "ok");
}

#[tokio::test]
async fn a_modern_server_gets_no_responses() {
    let (client, mut far) = connected().await;
    let (result, ()) = tokio::join!(client.call("t").into_future(), async {
        let call = far.read().await;
        far.say(json!({"jsonrpc": "2.0", "id": 7, "method": "ping"}))
            .await;
        far.result(&call, done("ok")).await;
    });
    result.unwrap();
    let (_, next) = tokio::join!(client.call("u").into_future(), async {
        let next = far.read().await;
        far.result(&next, done("ok")).await;
        next
    });
    assert_eq!(next["method"], "tools/call");
}

#[tokio::test]
async fn a_line_without_end_is_skipped_in_bounded_memory() {
    let (builder, mut far) = pair();
    let mut config = Config::default();
    config.max_message_bytes = 4096;
    let (client, ()) = tokio::join!(builder.config(config).connect(), async {
        let probe = far.read().await;
        far.say(json!("x".repeat(100_000))).await;
        far.result(&probe, discovered()).await;
    });
    assert!(client.is_ok());
}
