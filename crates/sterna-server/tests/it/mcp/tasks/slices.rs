//! Work on tasks in slices, as a function that is called by a schedule does it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use sterna_server::{Cx, Server, Service, TaskMode, Tool, ToolError};
use sterna_store_sqlite::{Config, SqliteStore};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::super::{Client, accept, mounted};
use super::{capabilities, config, said};

/// Steps that ran, and permits for those that wait for one.
struct World {
    ran: Mutex<Vec<&'static str>>,
    permits: Semaphore,
    blocked: AtomicBool,
    tries: AtomicUsize,
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            ran: Mutex::default(),
            permits: Semaphore::new(0),
            blocked: AtomicBool::new(true),
            tries: AtomicUsize::new(0),
        })
    }

    fn ran(&self) -> String {
        self.ran.lock().unwrap().join(" ")
    }
}

/// Its second step waits for a permit.
async fn two_steps(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    for step in ["one", "two"] {
        let world = Arc::clone(cx.state::<Arc<World>>());
        cx.step(step, || async move {
            if step == "two" {
                world.tries.fetch_add(1, Ordering::SeqCst);
                world.permits.acquire().await.unwrap().forget();
            }
            world.ran.lock().unwrap().push(step);
        })
        .await;
    }
    Ok("done".to_owned())
}

async fn asks(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    Ok(cx.ask("name", "For whom?").await?)
}

async fn panics(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let told = cx.step("bang", || async { String::new() }).await;
    assert!(!told.is_empty(), "as told");
    Ok(told)
}

/// Blocks its thread, so that it can be neither polled nor dropped.
async fn blocks(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let world = Arc::clone(cx.state::<Arc<World>>());
    cx.step("block", || async move {
        while world.blocked.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    })
    .await;
    Ok(String::new())
}

fn instance(path: &Path, world: &Arc<World>) -> Service {
    let store = SqliteStore::open(path, Config::default()).unwrap();
    let always = |tool: Tool| tool.task(TaskMode::Always);
    let server = Server::new("jobs", "1")
        .offer(always(Tool::new("two_steps", "", two_steps)))
        .offer(always(Tool::new("asks", "", asks)))
        .offer(always(Tool::new("panics", "", panics)))
        .offer(always(Tool::new("blocks", "", blocks)))
        .state(Arc::clone(world));
    let server = mounted(server).config(config()).store(Arc::new(store));
    server.build().unwrap()
}

fn client(service: &Service) -> Client {
    Client::at(service.clone()).with_capabilities(capabilities())
}

#[tokio::test]
async fn a_slice_hands_over_what_the_next_one_finishes() {
    let folder = tempfile::tempdir().unwrap();
    let (path, world) = (folder.path().join("jobs.db"), World::new());
    let first = instance(&path, &world);
    let task = client(&first).begin("two_steps", json!({})).await;

    let begun = Instant::now();
    let done = first.work_for(Duration::from_millis(400)).await;
    assert_eq!((done.handed_over, done.finished, done.left), (1, 0, 0));
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert_eq!(world.ran(), "one");
    drop(first);

    // Long before the lease of thirty seconds would have ended.
    world.permits.add_permits(1);
    let second = instance(&path, &world);
    let begun = Instant::now();
    let done = second.work_for(Duration::from_secs(60)).await;
    assert_eq!((done.finished, done.handed_over), (1, 0), "{done:?}");
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(said(&client(&second).look(&task).await), "done");
    assert_eq!(world.ran(), "one two");
    assert_eq!(world.tries.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_slice_ends_early_when_there_is_nothing_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let (path, world) = (folder.path().join("jobs.db"), World::new());
    let service = instance(&path, &world);
    let begun = Instant::now();
    assert!(service.work_for(Duration::from_secs(60)).await.is_nothing());

    let client = client(&service);
    let task = client.begin("asks", json!({})).await;
    let done = service.work_for(Duration::from_secs(60)).await;
    assert_eq!((done.waiting, done.finished), (1, 0));
    let answers = json!({"name": accept(json!({"name": "Ada"}))});
    let update = json!({"taskId": task, "inputResponses": answers});
    client.send("tasks/update", update).await.into_result();
    let done = service.work_for(Duration::MAX).await;
    assert_eq!((done.waiting, done.finished), (0, 1));
    assert_eq!(said(&client.look(&task).await), "Ada");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_panics_or_blocks_its_thread_does_not_hold_up_a_slice() {
    let folder = tempfile::tempdir().unwrap();
    let (path, world) = (folder.path().join("jobs.db"), World::new());
    let service = instance(&path, &world);
    let client = client(&service);
    let panicking = client.begin("panics", json!({})).await;
    let done = service.work_for(Duration::from_secs(60)).await;
    assert_eq!((done.finished, done.retried), (1, 0));
    assert_eq!(client.look(&panicking).await["status"], "failed");

    client.begin("blocks", json!({})).await;
    let begun = Instant::now();
    let done = service.work_for(Duration::from_millis(200)).await;
    assert_eq!((done.left, done.finished), (1, 0));
    assert!(begun.elapsed() < Duration::from_secs(10));
    world.blocked.store(false, Ordering::SeqCst);
}

#[tokio::test]
async fn a_slice_without_a_store_does_nothing() {
    let service = mounted(Server::new("jobs", "1")).build().unwrap();
    assert!(service.work_for(Duration::from_secs(60)).await.is_nothing());
}
