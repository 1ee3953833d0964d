//! A server with tasks, and a client in the same process.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request};
use http_body_util::{BodyExt as _, Full};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sterna_seal::{Keyring, ThreadEntropy};
use sterna_server::auth::Gate;
use sterna_server::http::HttpServer;
use sterna_server::{
    Cx, Mcp, Server, ServerConfig, Service, TaskConfig, TaskMode, Tool, ToolError,
};
use sterna_store::Store;
use tokio::task::JoinSet;
use tower_service::Service as _;

/// How far tasks have come.
#[derive(Clone, Default)]
pub(crate) struct Progress {
    pub(crate) asked: Arc<AtomicU32>,
    pub(crate) stepped: Arc<AtomicU32>,
    pub(crate) held: Arc<AtomicU32>,
    pub(crate) done: Arc<AtomicU32>,
    /// Whether a task that has stepped stays in hand for ever.
    pub(crate) holds: bool,
    /// What the slowest step took until its handler went on, in microseconds.
    pub(crate) slowest: Arc<AtomicU64>,
}

impl Progress {
    /// Notes that a step that began at `begun` is committed.
    fn committed(&self, begun: Instant) {
        let took = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.slowest.fetch_max(took, Ordering::Relaxed);
    }

    /// Reports the slowest step since the last report.
    ///
    /// # Errors
    ///
    /// It took longer than a second: something waits for itself.
    pub(crate) fn report_slowest(&self) -> Result<()> {
        let slowest = Duration::from_micros(self.slowest.swap(0, Ordering::Relaxed));
        println!("  the slowest step was committed after {slowest:.1?}");
        ensure!(
            slowest <= LONGEST_STEP,
            "a step took {slowest:?} to be committed, and nothing was broken"
        );
        Ok(())
    }

    /// Waits until `counter` is `count`.
    ///
    /// # Errors
    ///
    /// It stands still for so long that a task must have been lost.
    pub(crate) async fn until(counter: &AtomicU32, count: u32) -> Result<()> {
        let (mut known, mut since) = (0, Instant::now());
        loop {
            let now = counter.load(Ordering::Relaxed);
            if now >= count {
                return Ok(());
            }
            if now > known {
                (known, since) = (now, Instant::now());
            }
            ensure!(
                since.elapsed() < STANDSTILL,
                "{now} of {count} tasks came through, and no more"
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

pub(crate) fn service(
    store: Arc<dyn Store>,
    tasks: TaskConfig,
    progress: Progress,
) -> Result<Service> {
    let mut config = ServerConfig::default();
    config.tasks = tasks;
    // One caller creates them all.
    config.tasks.per_owner = None;
    let keys = Keyring::generate(&mut ThreadEntropy)?;
    let server = Server::new("bench", "1")
        .keys(keys)
        .gate(Gate::open())
        .state(progress)
        .offer(Tool::new("step", "One step", step).task(TaskMode::Always))
        .offer(Tool::new("walk", "Many steps", walk).task(TaskMode::Always))
        .offer(Tool::new("ask", "One question", ask).task(TaskMode::Always))
        .store(store)
        .config(config);
    Ok(server.build()?)
}

#[derive(Deserialize, JsonSchema)]
struct Input {
    text: String,
}

async fn step(cx: Cx<'_>, input: Input) -> Result<String, ToolError> {
    let text = input.text;
    let progress = cx.state::<Progress>();
    let stepped = &progress.stepped;
    let begun = Instant::now();
    let kept = cx
        .step("keep", || async move {
            stepped.fetch_add(1, Ordering::Relaxed);
            text
        })
        .await;
    progress.committed(begun);
    if progress.holds {
        let held = &progress.held;
        cx.try_step("hold", || async move {
            held.fetch_add(1, Ordering::Relaxed);
            pending::<Result<(), ToolError>>().await
        })
        .await?;
    }
    progress.done.fetch_add(1, Ordering::Relaxed);
    Ok(kept)
}

/// Commits one step after the other for longer than half a lease.
async fn walk(cx: Cx<'_>, input: Input) -> Result<String, ToolError> {
    let progress = cx.state::<Progress>();
    for number in 0..WALK {
        let begun = Instant::now();
        let stepped = &progress.stepped;
        cx.step(&format!("step-{number}"), || async move {
            stepped.fetch_add(1, Ordering::Relaxed);
        })
        .await;
        progress.committed(begun);
    }
    progress.done.fetch_add(1, Ordering::Relaxed);
    Ok(input.text)
}

async fn ask(cx: Cx<'_>, input: Input) -> Result<String, ToolError> {
    cx.state::<Progress>().asked.fetch_add(1, Ordering::Relaxed);
    let name: String = cx.ask("name", "Who are you?").await?;
    Ok(format!("{name} {}", input.text))
}

/// A client of a server in this process, without a socket in between.
#[derive(Clone)]
pub(crate) struct Client(HttpServer<Mcp>);

impl Client {
    pub(crate) fn of(service: Service) -> Result<Self> {
        Ok(Self(service.into_tower()?))
    }

    /// Creates `count` tasks, `callers` at a time; gives the id of the last.
    pub(crate) async fn create(
        &self,
        tool: &'static str,
        count: u32,
        callers: u32,
    ) -> Result<String> {
        let mut set = JoinSet::new();
        for caller in 0..callers {
            let client = self.clone();
            set.spawn(async move {
                let mut last = String::new();
                let text = "a".repeat(400);
                for _ in (caller..count).step_by(usize::try_from(callers)?) {
                    let params = json!({"name": tool, "arguments": {"text": text}});
                    let created = client.send("tools/call", tool, params).await?;
                    let task = created["taskId"].as_str();
                    last = task
                        .with_context(|| format!("no task: {created}"))?
                        .to_owned();
                }
                anyhow::Ok(last)
            });
        }
        let mut last = String::new();
        for created in set.join_all().await {
            last = created?;
        }
        Ok(last)
    }

    pub(crate) async fn status(&self, task: &str) -> Result<String> {
        let shown = self
            .send("tasks/get", task, json!({"taskId": task}))
            .await?;
        Ok(shown["status"].as_str().unwrap_or_default().to_owned())
    }

    async fn send(&self, method: &str, name: &str, mut params: Value) -> Result<Value> {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": {"form": {}},
                "extensions": {"io.modelcontextprotocol/tasks": {}},
            },
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut headers = HeaderMap::new();
        for (header, value) in [
            ("host", "localhost"),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
            ("mcp-name", name),
        ] {
            headers.insert(header, HeaderValue::from_str(value)?);
        }
        let mut request = Request::post("/mcp").body(Full::new(Bytes::from(body.to_string())))?;
        *request.headers_mut() = headers;
        let response = self.0.clone().call(request).await?;
        let body = response.into_body().collect().await?.to_bytes();
        let mut message: Value = serde_json::from_slice(&body)?;
        ensure!(message.get("result").is_some(), "{method}: {message}");
        Ok(message["result"].take())
    }
}

/// The steps of one walk.
pub(crate) const WALK: u32 = 200;

/// What a step may take: a commit, with all workers at it.
const LONGEST_STEP: Duration = Duration::from_secs(1);

/// Far longer than the lease of a process that was killed.
const STANDSTILL: Duration = Duration::from_secs(600);
