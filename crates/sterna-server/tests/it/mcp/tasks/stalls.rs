//! A worker does not wait for itself: on a real PostgreSQL, whose verbs are
//! transactions that lock a row, and on a store that does the same in memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use postgres_here::Postgres;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sterna_http::clock::Clock;
use sterna_server::{Cx, Server, ServerConfig, TaskMode, Tool, ToolError};
use sterna_store::contract::{Fault, Faulty};
use sterna_store::{MemoryLimits, MemoryStore, Store, UnixMillis};
use sterna_store_postgres::PostgresStore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::super::{Client, accept, keys, show};
use super::{capabilities, said};

/// The longest time that a step may take when nothing is broken.
const LONGEST: Duration = Duration::from_secs(1);

/// What the handlers of a test have seen.
#[derive(Default)]
struct Seen {
    /// Every step that took longer than [`LONGEST`] to be committed.
    slow: Mutex<Vec<String>>,
    /// Steps that ran.
    ran: AtomicUsize,
    /// Steps whose result the handler saw.
    seen: AtomicUsize,
}

/// Runs one step after the other until `done`, and notes how long each takes.
async fn steps(cx: &Cx<'_>, done: impl Fn() -> bool) -> Result<(), ToolError> {
    for number in 0.. {
        if done() {
            break;
        }
        let seen = Arc::clone(cx.state::<Arc<Seen>>());
        let ran = Arc::clone(&seen);
        let since = Instant::now();
        cx.step(&format!("step-{number}"), || async move {
            ran.ran.fetch_add(1, Ordering::SeqCst);
        })
        .await;
        seen.seen.fetch_add(1, Ordering::SeqCst);
        let took = since.elapsed();
        if took > LONGEST {
            let slow = format!("step {number} took {took:?}");
            seen.slow.lock().unwrap().push(slow);
        }
    }
    Ok(())
}

/// Commits without a pause for longer than half a lease.
async fn busy(cx: Cx<'_>, (): ()) -> Result<&'static str, ToolError> {
    let until = Instant::now() + Duration::from_millis(2500);
    steps(&cx, || Instant::now() >= until).await?;
    Ok("done")
}

/// Commits without a pause while the client answers one question after the other.
async fn answered(cx: Cx<'_>, (): ()) -> Result<&'static str, ToolError> {
    let done = AtomicUsize::new(0);
    let asking = async {
        for number in 0..QUESTIONS {
            cx.ask::<bool>(&format!("question-{number}"), "Go on?")
                .await?;
        }
        done.store(1, Ordering::SeqCst);
        Ok::<_, ToolError>(())
    };
    let (asked, stepped) = tokio::join!(asking, steps(&cx, || done.load(Ordering::SeqCst) > 0));
    asked.and(stepped)?;
    Ok("done")
}

/// Claims an effect just before its round is renewed, three and a third seconds
/// after it was entered.
async fn late(cx: Cx<'_>, (): ()) -> Result<&'static str, ToolError> {
    cx.ask::<bool>("sure", "Sure?").await?;
    cx.step("wait", || async {
        tokio::time::sleep(Duration::from_millis(3331)).await;
    })
    .await;
    cx.once("pay", |_| async {}).await?;
    Ok("done")
}

/// An instance on a store of its own.
struct Instance {
    client: Client,
    seen: Arc<Seen>,
    _workers: JoinSet<()>,
    _postgres: Option<Postgres>,
}

impl Instance {
    /// On PostgreSQL; `None` if there is none on this machine.
    async fn on_postgres(lease: Duration) -> Option<Self> {
        let Some(postgres) = Postgres::start("fsync = off").unwrap() else {
            assert!(std::env::var_os("CI").is_none(), "missing: PostgreSQL");
            eprintln!("skipped: PostgreSQL, install it");
            return None;
        };
        let config = sterna_store_postgres::Config::new(&postgres.connection()).unwrap();
        let store = PostgresStore::connect(config).await.unwrap();
        let mut instance = Self::on(Arc::new(store), lease);
        instance._postgres = Some(postgres);
        Some(instance)
    }

    fn on(store: Arc<dyn Store>, lease: Duration) -> Self {
        let seen = Arc::new(Seen::default());
        let mut config = ServerConfig::default();
        config.tasks.lease = lease;
        // The faster the machine, the more steps there are.
        config.flow.limits.entries = 100_000;
        let service = Server::new("postgres", "1")
            .state(Arc::clone(&seen))
            .offer(Tool::new("busy", "", busy).task(TaskMode::Always))
            .offer(Tool::new("answered", "", answered).task(TaskMode::Always))
            .tool("late", "", late)
            .store(store)
            .keys(keys())
            .anonymous()
            .config(config)
            .build()
            .unwrap();
        let mut workers = JoinSet::new();
        let working = service.clone();
        workers.spawn(async move { working.work().await });
        Self {
            client: Client::at(service).with_capabilities(capabilities()),
            seen,
            _workers: workers,
            _postgres: None,
        }
    }

    /// Answers one question after the other until the task is done.
    async fn answer_all(&self) {
        let client = &self.client;
        let task = client.begin("answered", json!({})).await;
        loop {
            let shown = client.until(&task, &["input_required", "completed"]).await;
            let Some(asked) = shown["inputRequests"].as_object() else {
                assert_eq!(said(&shown), "done");
                break;
            };
            let yes = |key: &String| {
                let name = &shown["inputRequests"][key]["params"]["requestedSchema"]["required"][0];
                (key.clone(), accept(json!({name.as_str().unwrap(): true})))
            };
            let answers: Value = asked.keys().map(yes).collect();
            client.update(&task, answers).await;
        }
    }

    /// Insists that no step was slow, and that none ran twice.
    #[track_caller]
    fn check(&self) {
        let slow = self.seen.slow.lock().unwrap();
        assert!(slow.is_empty(), "{slow:?}");
        let ran = self.seen.ran.load(Ordering::SeqCst);
        let seen = self.seen.seen.load(Ordering::SeqCst);
        assert_eq!(ran, seen, "a step ran again");
        assert!(ran > QUESTIONS, "only {ran} steps ran");
    }
}

#[tokio::test]
async fn a_worker_that_renews_its_lease_does_not_wait_for_its_own_commit() {
    let Some(instance) = Instance::on_postgres(Duration::from_secs(3)).await else {
        return;
    };
    let client = &instance.client;
    let mut tasks = Vec::new();
    for _ in 0..3 {
        tasks.push(client.begin("busy", json!({})).await);
    }
    for task in tasks {
        assert_eq!(said(&client.ended(&task).await), "done");
    }
    instance.check();
}

#[tokio::test]
async fn a_worker_that_hears_of_an_answer_does_not_wait_for_its_own_commit() {
    let Some(instance) = Instance::on_postgres(Duration::from_secs(30)).await else {
        return;
    };
    instance.answer_all().await;
    instance.check();
}

/// A store that keeps a renewal waiting for a call that is not polled.
fn parking() -> Arc<dyn Store> {
    let begun = Instant::now();
    let clock = move || UnixMillis::new(0) + begun.elapsed();
    let store = MemoryStore::with_clock(MemoryLimits::default(), clock);
    Arc::new(Faulty::new(Arc::new(store), Fault::HoldsParkedCalls))
}

#[tokio::test(start_paused = true)]
async fn a_handler_goes_on_while_the_store_keeps_its_worker_waiting() {
    let instance = Instance::on(parking(), Duration::from_secs(30));
    instance.answer_all().await;
    instance.check();
}

#[tokio::test(start_paused = true)]
async fn a_round_goes_on_while_it_is_renewed() {
    let instance = Instance::on(parking(), Duration::from_secs(30));
    let client = &instance.client;
    let params = json!({"name": "late", "arguments": {}});
    let asked = client
        .send("tools/call", params.clone())
        .await
        .into_result();
    let answers = json!({"sure": accept(json!({"sure": true}))});
    let since = Instant::now();
    let done = client.retry("tools/call", &params, &asked, answers).await;
    assert_eq!(show(&done.into_result()), "done");
    assert!(
        since.elapsed() < Duration::from_secs(4),
        "{:?}",
        since.elapsed()
    );
}

/// Asks twice, after so many steps: the second time four seconds after the
/// first, whose question has a deadline of five.
async fn patient(cx: Cx<'_>, Steps { steps }: Steps) -> Result<&'static str, ToolError> {
    for number in 0..steps {
        let name = format!("step-{number}");
        cx.step(&name, || async {}).await;
    }
    let first = cx.ask::<bool>("first", "Go on?");
    let wait = |name: &'static str, seconds| {
        cx.step(name, move || async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
        })
    };
    let second = async {
        wait("wait", 4).await;
        cx.ask::<bool>("second", "Go on?").await?;
        Ok::<_, ToolError>(())
    };
    let (first, second, ()) = tokio::join!(
        first.deadline(Duration::from_secs(5)),
        second,
        // A task that has something to do is not put away with its questions.
        wait("busy", 10)
    );
    second?;
    Ok(first.map_or("too late", |_| "in time"))
}

#[derive(Deserialize, JsonSchema)]
struct Steps {
    steps: u32,
}

#[tokio::test(start_paused = true)]
async fn an_answer_comes_before_a_deadline_that_passes_while_the_store_is_slow() {
    let mut longest = Duration::ZERO;
    // One commit in forty is slow: once it is the one that asks the second question.
    for steps in 0..40 {
        let begun = Instant::now();
        let clock = move || UnixMillis::new(1_785_231_000_000) + begun.elapsed();
        let store = MemoryStore::with_clock(MemoryLimits::default(), clock);
        let store = Arc::new(Faulty::new(Arc::new(store), Fault::StallsCommits));
        let wall =
            move || SystemTime::UNIX_EPOCH + Duration::from_secs(1_785_231_000) + begun.elapsed();
        let service = Server::new("patient", "1")
            .offer(Tool::new("patient", "", patient).task(TaskMode::Always))
            .clock(Clock::new(wall))
            .store(store)
            .keys(keys())
            .anonymous()
            .build()
            .unwrap();
        let working = service.clone();
        let mut workers = JoinSet::new();
        workers.spawn(async move { working.work().await });
        let client = Client::at(service).with_capabilities(capabilities());
        let task = client.begin("patient", json!({"steps": steps})).await;
        let since = Instant::now();
        tokio::time::sleep(Duration::from_millis(4500)).await;
        let yes = |key: &str| json!({key: accept(json!({key: true}))});
        client.update(&task, yes("first")).await;
        while client.look(&task).await["inputRequests"]["second"].is_null() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        longest = longest.max(since.elapsed());
        client.update(&task, yes("second")).await;
        assert_eq!(said(&client.ended(&task).await), "in time", "{steps} steps");
    }
    assert!(longest > Duration::from_secs(5), "{longest:?}");
}

/// Each answer is a hint that reaches the worker in the middle of a commit.
const QUESTIONS: usize = 8;
