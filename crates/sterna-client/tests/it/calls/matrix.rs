//! Every cell of the specification's matrix of clients and servers, over HTTP
//! and over a pipe.

use std::net::TcpListener;

use expect_test::expect;
use serde_json::{Value, json};
use sterna_client::{Client, Duplex, Era, Target};
use sterna_server::{Cx, Server};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::task::JoinSet;

use super::rounds::text;
use super::scripted::{Said, Scripted};
use crate::world::Reply;

/// The era of a server.
#[derive(Clone, Copy, Debug)]
enum Speaks {
    Modern,
    Both,
    Legacy,
}

async fn hello(_: Cx<'_>, (): ()) -> &'static str {
    "hello"
}

/// This workspace's own server.
fn ours(speaks: Speaks) -> Server {
    let server = Server::new("matrix", "1").tool("hello", "Says hello", hello);
    match speaks {
        Speaks::Both => server,
        _ => server.without_sessions(),
    }
}

/// The response of a 2025-11-25 server to a message, if there is one.
fn answer(message: &Value) -> Option<Result<Value, Value>> {
    Some(match message["method"].as_str()? {
        "initialize" => Ok(
            json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "old", "version": "1"}}),
        ),
        "notifications/initialized" => return None,
        "tools/call" => Ok(json!({"content": [{"type": "text", "text": "hello"}]})),
        _ => Err(json!({"code": -32601, "message": "Method not found"})),
    })
}

async fn over_http(tasks: &mut JoinSet<()>, speaks: Speaks) -> Target {
    if matches!(speaks, Speaks::Legacy) {
        let server = Scripted::raw(|seen, _| match answer(&seen.body) {
            Some(Ok(result)) => Said::Result(result),
            Some(Err(error)) => Said::Error(error),
            None => Said::Reply(Reply::status(if seen.body.is_null() { 405 } else { 202 })),
        });
        return (&*server.await.url).into();
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let service = ours(speaks).build().unwrap();
    tasks.spawn(async move {
        let forever = std::future::pending();
        service.serve_on(listener, forever).await.unwrap();
    });
    (&*url).into()
}

fn over_a_pipe(tasks: &mut JoinSet<()>, speaks: Speaks) -> Target {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, mut writer) = tokio::io::split(far);
    if matches!(speaks, Speaks::Legacy) {
        tasks.spawn(async move {
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                let (member, said) = match answer(&message) {
                    Some(Ok(result)) => ("result", result),
                    Some(Err(error)) => ("error", error),
                    None => continue,
                };
                let reply = json!({"jsonrpc": "2.0", "id": message["id"], member: said});
                let line = format!("{reply}\n");
                writer.write_all(line.as_bytes()).await.unwrap();
            }
        });
    } else {
        let service = ours(speaks).build().unwrap();
        tasks.spawn(async move { service.serve_lines(reader, writer).await.unwrap() });
    }
    let (reader, writer) = tokio::io::split(near);
    Duplex::new("pipe", reader, writer).into()
}

async fn outcome(target: Target, era: Era) -> String {
    match Client::builder(target).era(era).connect().await {
        Ok(client) => {
            let said = client.call("hello").await.unwrap();
            format!("{:?}, {}", client.era(), text(&said))
        }
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn every_client_meets_every_server_as_the_matrix_says() {
    let mut tasks = JoinSet::new();
    let mut shown = String::new();
    for era in [Era::Modern, Era::Any, Era::Legacy] {
        for speaks in [Speaks::Modern, Speaks::Both, Speaks::Legacy] {
            let http = over_http(&mut tasks, speaks).await;
            let http = outcome(http, era).await;
            let pipe = outcome(over_a_pipe(&mut tasks, speaks), era).await;
            assert_eq!(http, pipe, "{era:?} meets {speaks:?}");
            shown += &format!("{era:?} meets {speaks:?}: {http}\n");
        }
    }
    expect![[r#"
        Modern meets Modern: Modern, hello
        Modern meets Both: Modern, hello
        Modern meets Legacy: the server supports only protocol versions before 2026-07-28, which this client was told not to use (MR0505)
        Any meets Modern: Modern, hello
        Any meets Both: Modern, hello
        Any meets Legacy: Legacy, hello
        Legacy meets Modern: the server refused: Unsupported protocol version `2025-11-25`; this server speaks 2026-07-28 (MR0510)
        Legacy meets Both: Legacy, hello
        Legacy meets Legacy: Legacy, hello
    "#]].assert_eq(&shown);
}
