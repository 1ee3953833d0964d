//! A client that meets a server whose schemas are traps.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use sterna_client::{Client, Duplex};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

/// Calls a tool whose result has to be compared with its output schema, once
/// for each schema that asks for more comparisons than there is time for: the
/// longest that one took.
///
/// # Errors
///
/// The client did not take the result, or took longer than [`LONGEST`] for it.
pub fn try_all() -> Result<Duration> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut longest = Duration::ZERO;
    for (name, schema, items) in traps() {
        let took = runtime.block_on(call(&schema, &items));
        let took = took.with_context(|| format!("a schema with {name}"))?;
        ensure!(took < LONGEST, "a schema with {name}: {took:?}");
        longest = longest.max(took);
    }
    Ok(longest)
}

/// Schemas for the items of a list, and a list, each as long as a message may
/// well be.
fn traps() -> [(&'static str, Value, Value); 4] {
    let numbers: Vec<_> = (0..MANY).map(|number| format!("{number:06}")).collect();
    let backwards: Vec<_> = numbers.iter().rev().collect();
    let members: Value = numbers
        .iter()
        .map(|name| (name.clone(), json!(true)))
        .collect();
    let nothing = vec![json!({}); MANY];
    let mut types = vec!["null"; MANY];
    types.push("string");
    [
        (
            "100,000 values in an enum",
            json!({"enum": backwards}),
            json!(numbers),
        ),
        ("100,000 types", json!({"type": types}), json!(numbers)),
        (
            "100,000 properties",
            json!({"properties": members}),
            json!(nothing),
        ),
        ("100,000 unknown keywords", members, json!(numbers)),
    ]
}

/// How long a call takes whose result is a list of `items`, each of which is to
/// fit `schema`.
async fn call(schema: &Value, items: &Value) -> Result<Duration> {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(near);
    let builder = Client::builder(Duplex::new("trap", reader, writer));
    let calling = async {
        let client = builder.connect().await?;
        client.tools().all().await?;
        let start = now();
        client.call("trap").await?;
        anyhow::Ok(start.elapsed())
    };
    tokio::select! {
        took = calling => took,
        served = serve(far, schema, items) => {
            served?;
            anyhow::bail!("the client has gone")
        }
    }
}

async fn serve(stream: DuplexStream, schema: &Value, items: &Value) -> Result<()> {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut lines = BufReader::new(reader).lines();
    while let Some(line) = lines.next_line().await? {
        let request: Value = serde_json::from_str(&line)?;
        let result = match request["method"].as_str() {
            Some("server/discover") => json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}},
            }),
            Some("tools/list") => json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "tools": [{
                    "name": "trap",
                    "inputSchema": {"type": "object"},
                    "outputSchema": {"type": "object", "properties": {"list": {"items": schema}}},
                }],
            }),
            _ => json!({
                "resultType": "complete",
                "content": [],
                "structuredContent": {"list": items},
            }),
        };
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        writer.write_all(format!("{answer}\n").as_bytes()).await?;
    }
    Ok(())
}

fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "what is measured here is time")]
    Instant::now()
}

const MANY: usize = 100_000;

/// For the whole call, its result of a megabyte included, in a build for tests
/// on a machine that is busy. The comparisons alone would take a minute.
pub const LONGEST: Duration = Duration::from_secs(20);
