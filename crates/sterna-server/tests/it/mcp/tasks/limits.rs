//! What one caller may take from the others, and what an instance says when it
//! cannot work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Full};
use serde_json::json;
use sterna_flow::StepErrorKind;
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::http::ResponseBody;
use sterna_server::{Cx, Server, ServerConfig, Service, TaskMode, Tool, ToolError};
use sterna_store::{
    BlobId, BoxFuture, Error, ErrorKind, Intercept, MemoryLimits, MemoryStore, Rings, Shard,
    Shards, Store, UnixMillis,
};
use sterna_store_sqlite::{Config, SqliteStore};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tower_service::Service as _;

use super::super::{Client, accept, keys};
use super::{Fleet, capabilities, config, said};

/// How long a task takes that keeps a worker busy.
const LONG: Duration = Duration::from_millis(5000);

async fn long(cx: Cx<'_>, (): ()) -> Result<&'static str, ToolError> {
    cx.step("work", || async {
        tokio::time::sleep(LONG).await;
    })
    .await;
    Ok("done")
}

async fn short(_: Cx<'_>, (): ()) -> &'static str {
    "done"
}

async fn ask(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    Ok(cx.ask::<String>("name", "Who?").await?)
}

fn server() -> Server {
    let tokens = StaticTokens::parse("token-of-ada ada\ntoken-of-bob bob").unwrap();
    Server::new("shared", "1")
        .gate(Gate::guarded(tokens))
        .offer(Tool::new("long", "", long).task(TaskMode::Always))
        .offer(Tool::new("short", "", short).task(TaskMode::Always))
        .offer(Tool::new("ask", "", ask).task(TaskMode::Always))
}

#[tokio::test(start_paused = true)]
async fn many_tasks_of_one_caller_delay_that_of_another_by_one_of_them() {
    // Both ways, because callers take turns in an order that has a beginning.
    let tokens = ["token-of-ada", "token-of-bob"];
    for [many, one] in [tokens, [tokens[1], tokens[0]]] {
        let mut fleet = Fleet::new();
        let mut config = config();
        config.tasks.workers = 16;
        let service = fleet.configured(server(), config);
        let client = Client::at(service.clone()).with_capabilities(capabilities());
        let [busy, other] = [many, one].map(|token| client.with_token(token));
        for _ in 0..48 {
            busy.begin("long", json!({})).await;
        }
        fleet.employ(&service);
        // All sixteen workers are busy with tasks of one caller, and 32 wait.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let since = Instant::now();
        let task = other.begin("short", json!({})).await;
        other.ended(&task).await;
        let took = since.elapsed();
        assert!(took < LONG, "the task of {one} took {took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn short_tasks_of_two_callers_are_worked_on_in_turn() {
    let mut fleet = Fleet::new();
    let mut config = config();
    config.tasks.workers = 1;
    let service = fleet.configured(server(), config);
    let client = Client::at(service.clone()).with_capabilities(capabilities());
    let (ada, bob) = (
        client.with_token("token-of-ada"),
        client.with_token("token-of-bob"),
    );
    for _ in 0..20 {
        ada.begin("long", json!({})).await;
    }
    let task = bob.begin("short", json!({})).await;
    let since = Instant::now();
    fleet.employ(&service);
    bob.ended(&task).await;
    // One task of the other caller at most, not twenty.
    let took = since.elapsed();
    assert!(took < LONG * 2, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_caller_with_too_many_unfinished_tasks_is_told_what_to_do() {
    let mut fleet = Fleet::new();
    let mut config = config();
    config.tasks.per_owner = Some(2);
    let service = fleet.configured(server(), config);
    fleet.employ(&service);
    let client = Client::at(service).with_capabilities(capabilities());
    let (ada, bob) = (
        client.with_token("token-of-ada"),
        client.with_token("token-of-bob"),
    );
    let task = ada.begin("ask", json!({})).await;
    ada.begin("ask", json!({})).await;
    let call = || ada.send("tools/call", json!({"name": "ask"}));
    let refused = call().await.error();
    assert!(
        refused.starts_with("429 -32603 \"Too many unfinished tasks: you have 2"),
        "{refused}"
    );
    assert!(refused.contains("tasks/cancel"), "{refused}");
    // The other caller is not affected, and one that has ended does not count.
    bob.begin("ask", json!({})).await;
    ada.until(&task, &["input_required"]).await;
    ada.update(&task, json!({"name": accept(json!({"name": "Ada"}))}))
        .await;
    assert_eq!(said(&ada.ended(&task).await), "Ada");
    ada.begin("ask", json!({})).await;
    assert_eq!(call().await.error(), refused);
}

/// What a handler did, and what it waits for.
#[derive(Default)]
struct Effects {
    begun: AtomicUsize,
    ended: AtomicUsize,
    gate: Notify,
}

async fn pay(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let effects = Arc::clone(cx.state::<Arc<Effects>>());
    let paid = cx
        .once("pay", |_| async move {
            effects.begun.fetch_add(1, Ordering::SeqCst);
            effects.gate.notified().await;
            effects.ended.fetch_add(1, Ordering::SeqCst);
        })
        .await;
    match paid {
        Ok(()) => Ok("paid".to_owned()),
        Err(error) if error.kind == StepErrorKind::Ambiguous => Ok("in doubt".to_owned()),
        Err(error) => Err(error.into()),
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_does_not_take_over_what_it_holds_when_the_clock_is_set_forward() {
    let (mut fleet, effects) = (Fleet::new(), Arc::new(Effects::default()));
    let server = Server::new("paying", "1")
        .state(Arc::clone(&effects))
        .offer(Tool::new("pay", "", pay).task(TaskMode::Always));
    let client = fleet.instance(server);
    let task = client.begin("pay", json!({})).await;
    while effects.begun.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    fleet.skip(Duration::from_secs(120));
    // Long enough for the instance to look for work many times.
    tokio::time::sleep(Duration::from_secs(60)).await;
    effects.gate.notify_waiters();
    effects.gate.notify_one();
    assert_eq!(said(&client.ended(&task).await), "paid");
    let counts = [&effects.begun, &effects.ended].map(|count| count.load(Ordering::SeqCst));
    assert_eq!(counts, [1, 1]);
}

/// A store whose blobs cannot be read.
struct Silent(MemoryStore);

impl Intercept for Silent {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    fn blob(&self, _: BlobId) -> BoxFuture<'_, Result<Option<Bytes>, Error>> {
        Box::pin(async { Err(Error::new(ErrorKind::Unavailable, "switched off")) })
    }
}

#[tokio::test]
async fn an_instance_with_a_silent_shard_is_ready_and_names_it() {
    let good = || -> Arc<dyn Store> { Arc::new(MemoryStore::new()) };
    let silent = || -> Arc<dyn Store> { Arc::new(Silent(MemoryStore::new())) };
    for (stores, status, named) in [
        ([good(), silent()], 200, true),
        ([silent(), silent()], 503, false),
        ([good(), good()], 200, false),
    ] {
        let shards = stores.into_iter().zip(["db1", "db2"]);
        let shards = shards.map(|(store, name)| Shard::new(name, store));
        let shards = Shards::open(shards.collect(), Rings::new(&[2]).unwrap()).await;
        let client = Client::at(on(Arc::new(shards.unwrap()), ServerConfig::default()));
        let response = readiness(&client).await;
        assert_eq!(response.status().as_u16(), status);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&body).into_owned();
        assert_eq!(text.contains("shard db2 does not answer"), named, "{text}");
    }
}

/// The status of `/readyz`, a moment later than the last time.
async fn ready(client: &Client) -> u16 {
    readiness(client).await.status().as_u16()
}

async fn readiness(client: &Client) -> Response<ResponseBody> {
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let mut request = Request::get("/readyz")
        .body(Full::new(Bytes::new()))
        .unwrap();
    let host = HeaderValue::from_static("localhost");
    request.headers_mut().insert("host", host);
    client.http.clone().call(request).await.unwrap()
}

#[tokio::test]
async fn an_instance_that_cannot_claim_work_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = SqliteStore::open(&path, Config::default()).unwrap();
    let mut config = ServerConfig::default();
    config.tasks.longest_poll = Duration::from_millis(100);
    let service = on(Arc::new(store), config);
    let mut workers = JoinSet::new();
    let working = service.clone();
    workers.spawn(async move { working.work().await });
    let client = Client::at(service);
    assert_eq!(ready(&client).await, 200);
    // Reading blobs goes on, so that the store answers.
    let neighbour = rusqlite::Connection::open(&path).unwrap();
    let rename = |from, to| {
        let sql = format!("ALTER TABLE {from} RENAME TO {to}");
        neighbour.execute_batch(&sql).unwrap();
    };
    rename("sterna_task", "gone");
    assert_eq!(ready(&client).await, 503);
    rename("gone", "sterna_task");
    assert_eq!(ready(&client).await, 200);
}

#[tokio::test]
async fn an_instance_whose_store_is_full_is_not_ready() {
    let limits = {
        let mut limits = MemoryLimits::default();
        limits.bytes = 100 << 10;
        limits
    };
    let time = Arc::new(std::sync::atomic::AtomicI64::new(0));
    let clock = Arc::clone(&time);
    let store = MemoryStore::with_clock(limits, move || {
        UnixMillis::new(clock.load(Ordering::SeqCst))
    });
    let store: Arc<dyn Store> = Arc::new(store);
    let client = Client::at(on(Arc::clone(&store), ServerConfig::default()));
    let client = client.with_capabilities(capabilities());
    assert_eq!(ready(&client).await, 200);
    let blob = BlobId::from_bytes([1; 16]);
    let minute = Duration::from_secs(60);
    store
        .put_blob(blob, vec![0; 100_000].into(), minute)
        .await
        .unwrap();
    loop {
        let called = client.send("tools/call", json!({"name": "short"})).await;
        if called.status != 200 {
            break;
        }
    }
    assert_eq!(ready(&client).await, 503);
    assert_eq!(ready(&client).await, 503);
    time.fetch_add(120_000, Ordering::SeqCst);
    assert_eq!(ready(&client).await, 200);
}

fn on(store: Arc<dyn Store>, config: ServerConfig) -> Service {
    Server::new("ready", "1")
        .offer(Tool::new("short", "", short).task(TaskMode::Always))
        .store(store)
        .keys(keys())
        .anonymous()
        .config(config)
        .build()
        .unwrap()
}
