//! Tasks, on a store in memory and on a clock that the test moves.

mod counted;
mod durability;
mod extension;
mod ids;
mod ledger;
mod limits;
mod rounds;
mod sep2322;
mod slices;
mod stalls;
mod versions;
mod watching;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sterna_server::{Server, ServerConfig, Service, TaskConfig};
use sterna_store::{MemoryLimits, MemoryStore, Store, UnixMillis};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Client, mounted};

/// Instances that share a store, and their workers.
pub(crate) struct Fleet {
    pub(crate) store: Arc<dyn Store>,
    workers: JoinSet<()>,
    /// How many milliseconds the store's clock is ahead.
    ahead: Arc<AtomicI64>,
}

impl Fleet {
    pub(crate) fn new() -> Self {
        let begun = Instant::now();
        let ahead = Arc::new(AtomicI64::new(0));
        let skipped = Arc::clone(&ahead);
        let clock = move || {
            let millis = i64::try_from(begun.elapsed().as_millis()).unwrap();
            UnixMillis::new(1_785_231_000_000 + millis + skipped.load(Ordering::SeqCst))
        };
        Self {
            store: Arc::new(MemoryStore::with_clock(MemoryLimits::default(), clock)),
            workers: JoinSet::new(),
            ahead,
        }
    }

    /// Lets time pass for the store alone.
    pub(crate) fn skip(&self, time: Duration) {
        let millis = i64::try_from(time.as_millis()).unwrap();
        self.ahead.fetch_add(millis, Ordering::SeqCst);
    }

    /// An instance that only serves requests.
    pub(crate) fn front(&self, server: Server) -> Client {
        Client::at(self.built(server)).with_capabilities(capabilities())
    }

    /// As `front`, for a caller that talks to it.
    pub(crate) fn built(&self, server: Server) -> Service {
        self.versioned(server, 0)
    }

    /// As `built`, with another version of its handlers' state.
    pub(crate) fn versioned(&self, server: Server, version: u32) -> Service {
        let mut config = config();
        config.flow.version = version;
        self.configured(server, config)
    }

    /// As `built`, with other settings.
    pub(crate) fn configured(&self, server: Server, config: ServerConfig) -> Service {
        let server = mounted(server).config(config);
        server.store(Arc::clone(&self.store)).build().unwrap()
    }

    /// An instance that works too.
    pub(crate) fn instance(&mut self, server: Server) -> Client {
        Client::at(self.working(server)).with_capabilities(capabilities())
    }

    /// As `instance`, for a caller that talks to it.
    pub(crate) fn working(&mut self, server: Server) -> Service {
        let service = self.built(server);
        self.employ(&service);
        service
    }

    /// Has an instance work.
    pub(crate) fn employ(&mut self, service: &Service) {
        let working = service.clone();
        self.workers.spawn(async move { working.work().await });
    }

    /// Kills every worker where it stands.
    pub(crate) async fn kill(&mut self) {
        self.workers.shutdown().await;
    }

    /// Waits until every worker has stopped by itself.
    pub(crate) async fn settled(&mut self) {
        while self.workers.join_next().await.is_some() {}
    }
}

pub(crate) fn config() -> ServerConfig {
    let mut config = ServerConfig::default();
    let mut tasks = TaskConfig::default();
    tasks.attempts = 3;
    tasks.drain = Duration::from_millis(100);
    config.tasks = tasks;
    config
}

pub(crate) fn capabilities() -> Value {
    json!({
        "elicitation": {"form": {}, "url": {}},
        "sampling": {},
        "roots": {},
        "extensions": {"io.modelcontextprotocol/tasks": {}},
    })
}

impl Client {
    /// Calls a tool that becomes a task, and gives its id.
    pub(crate) async fn begin(&self, tool: &str, arguments: Value) -> String {
        let created = self.call_tool(tool, arguments).await;
        assert_eq!(created["resultType"], "task", "{created}");
        created["taskId"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn look(&self, task: &str) -> Value {
        let reply = self.send("tasks/get", json!({"taskId": task})).await;
        reply.into_result()
    }

    /// Looks until the task is in one of `statuses`.
    pub(crate) async fn until(&self, task: &str, statuses: &[&str]) -> Value {
        for _ in 0..2000 {
            let shown = self.look(task).await;
            if statuses.contains(&shown["status"].as_str().unwrap()) {
                return shown;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{}", self.look(task).await);
    }

    pub(crate) async fn ended(&self, task: &str) -> Value {
        self.until(task, &["completed", "failed", "cancelled"])
            .await
    }

    pub(crate) async fn update(&self, task: &str, answers: Value) -> Value {
        let params = json!({"taskId": task, "inputResponses": answers});
        self.send("tasks/update", params).await.into_result()
    }
}

/// What a task says when it is done.
pub(crate) fn said(task: &Value) -> &str {
    task["result"]["content"][0]["text"].as_str().unwrap()
}
