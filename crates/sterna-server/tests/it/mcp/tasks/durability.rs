use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use sterna_server::{Cx, Server, TaskMode, Tool, ToolError};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::super::{Client, accept};
use super::{Fleet, said};

/// What handlers did to the world, and what they wait for.
#[derive(Default)]
struct World {
    done: Mutex<Vec<&'static str>>,
    alive: AtomicUsize,
    tries: AtomicUsize,
    tried: Mutex<Vec<Instant>>,
    gate: Notify,
}

impl World {
    fn did(&self, what: &'static str) {
        self.done.lock().unwrap().push(what);
    }

    /// Waits until exactly that was done.
    async fn until(&self, done: &str) {
        while self.done() != done {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    fn done(&self) -> String {
        self.done.lock().unwrap().join(" ")
    }
}

/// A handler that is in memory.
struct Alive(Arc<World>);

impl Alive {
    fn new(world: &Arc<World>) -> Self {
        world.alive.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(world))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn reserve(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let world = cx.state::<Arc<World>>();
    let _alive = Alive::new(world);
    let (reserved, undone) = (Arc::clone(world), Arc::clone(world));
    cx.step("reserve", || async move {
        reserved.did("reserve");
    })
    .await;
    cx.undo("reserve", move |_| async move {
        undone.did("undo");
    });
    let name: String = cx.ask("name", "For whom?").await?;
    let paid = Arc::clone(cx.state::<Arc<World>>());
    cx.once("pay", |_| async move {
        paid.did("pay");
    })
    .await?;
    Ok(name)
}

/// Its first step hangs until the gate opens.
async fn hang(cx: Cx<'_>, (): ()) -> Result<&'static str, ToolError> {
    let world = Arc::clone(cx.state::<Arc<World>>());
    cx.step("first", || async move {
        world.did("begin");
        world.gate.notified().await;
        world.did("end");
    })
    .await;
    Ok("hung")
}

/// As `hang`, and goes on with a second step.
async fn two(cx: Cx<'_>, (): ()) -> Result<&'static str, ToolError> {
    let world = Arc::clone(cx.state::<Arc<World>>());
    let _alive = Alive::new(&world);
    let second = Arc::clone(&world);
    cx.step("first", || async move {
        world.did("begin");
        world.gate.notified().await;
        world.did("end");
    })
    .await;
    cx.step("second", || async move {
        second.did("second");
    })
    .await;
    Ok("done")
}

/// Its step fails for now, twice.
async fn transient(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let world = Arc::clone(cx.state::<Arc<World>>());
    let tries = cx.try_step("try", || async move {
        world.tried.lock().unwrap().push(Instant::now());
        match world.tries.fetch_add(1, Ordering::SeqCst) {
            2 => Ok("third".to_owned()),
            _ => Err(ToolError::new("not yet")),
        }
    });
    Ok(tries.transient(|_| true).await?)
}

async fn flaky(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let tries = cx
        .state::<Arc<World>>()
        .tries
        .fetch_add(1, Ordering::SeqCst);
    cx.sleep("nap", Duration::from_millis(1)).await;
    Ok(tries.to_string())
}

/// Asks while a step runs. When it is started again, it is held up on the way
/// to its question by something that is no step.
async fn held_up(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let world = Arc::clone(cx.state::<Arc<World>>());
    if world.tries.fetch_add(1, Ordering::SeqCst) > 0 {
        world.did("again");
        world.gate.notified().await;
    }
    let asked = cx.ask::<String>("name", "For whom?");
    let slow = cx.step("slow", || async move {
        world.did("begin");
        tokio::time::sleep(Duration::from_secs(300)).await;
    });
    tokio::select! {
        name = asked => Ok(name?),
        () = slow => Ok("nobody".to_owned()),
    }
}

fn server(world: &Arc<World>) -> Server {
    Server::new("durable", "1")
        .state(Arc::clone(world))
        .offer(Tool::new("reserve", "", reserve).task(TaskMode::Always))
        .offer(
            Tool::new("short", "", reserve)
                .task(TaskMode::Always)
                .task_ttl(Duration::from_secs(60)),
        )
        .offer(Tool::new("hang", "", hang).task(TaskMode::Always))
        .offer(Tool::new("two", "", two).task(TaskMode::Always))
        .offer(Tool::new("transient", "", transient).task(TaskMode::Always))
        .offer(Tool::new("flaky", "", flaky).task(TaskMode::Always))
        .offer(Tool::new("held-up", "", held_up).task(TaskMode::Always))
}

/// An instance that works, and its client.
fn start() -> (Arc<World>, Fleet, Client) {
    let (world, mut fleet) = (Arc::new(World::default()), Fleet::new());
    let client = fleet.instance(server(&world));
    (world, fleet, client)
}

/// A task whose worker is overtaken by another: both are in its first step, and
/// only the store knows who is right.
async fn overtaken(world: &Arc<World>, fleet: &mut Fleet, client: &Client) -> String {
    let task = client.begin("two", json!({})).await;
    world.until("begin").await;
    // The store's clock decides, and the first worker knows nothing of it.
    fleet.skip(Duration::from_secs(60));
    fleet.instance(server(world));
    world.until("begin begin").await;
    task
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waits_is_not_in_memory_and_goes_on_anywhere() {
    let (world, mut fleet, client) = start();
    let task = client.begin("reserve", json!({})).await;
    client.until(&task, &["input_required"]).await;
    assert_eq!(world.alive.load(Ordering::SeqCst), 0);
    fleet.kill().await;
    let elsewhere = fleet.instance(server(&world));
    let answer = json!({"name": accept(json!({"name": "Ada"}))});
    elsewhere.update(&task, answer).await;
    assert_eq!(said(&elsewhere.ended(&task).await), "Ada");
    // What was committed is not done again.
    assert_eq!(world.done(), "reserve pay");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_is_undone() {
    let (world, _fleet, client) = start();
    let task = client.begin("reserve", json!({})).await;
    client.until(&task, &["input_required"]).await;
    for _ in 0..2 {
        let reply = client.send("tasks/cancel", json!({"taskId": task})).await;
        let acknowledged = reply.into_result();
        assert_eq!(acknowledged["resultType"], "complete");
        assert_eq!(acknowledged.as_object().unwrap().len(), 2);
    }
    assert_eq!(client.look(&task).await["status"], "cancelled");
    world.until("reserve undo").await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(world.done(), "reserve undo");
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_time_is_up_fails_and_is_undone() {
    let (world, _fleet, client) = start();
    let task = client.begin("short", json!({})).await;
    let shown = client.until(&task, &["input_required"]).await;
    assert_eq!(shown["ttlMs"], 60_000);
    let shown = client.ended(&task).await;
    assert_eq!(shown["status"], "failed");
    assert_eq!(shown["statusMessage"], "The task has expired");
    world.until("reserve undo").await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    let gone = client.send("tasks/get", json!({"taskId": task})).await;
    assert_eq!(gone.error(), r#"200 -32602 "Unknown task""#);
}

#[tokio::test(start_paused = true)]
async fn work_of_a_dead_worker_is_taken_over_when_its_lease_ends() {
    let (world, mut fleet, client) = start();
    let task = client.begin("hang", json!({})).await;
    world.until("begin").await;
    fleet.kill().await;
    world.gate.notify_one();
    let elsewhere = fleet.instance(server(&world));
    assert_eq!(said(&elsewhere.ended(&task).await), "hung");
    assert_eq!(world.done(), "begin begin end");
}

#[tokio::test(start_paused = true)]
async fn an_answer_counts_while_a_replay_has_not_come_to_its_question() {
    let (world, mut fleet, client) = start();
    let task = client.begin("held-up", json!({})).await;
    client.until(&task, &["input_required"]).await;
    fleet.kill().await;
    let elsewhere = fleet.instance(server(&world));
    world.until("begin again").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(elsewhere.look(&task).await["status"], "input_required");
    let answer = json!({"name": accept(json!({"name": "Ada"}))});
    elsewhere.update(&task, answer).await;
    world.gate.notify_one();
    assert_eq!(said(&elsewhere.ended(&task).await), "Ada");
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_was_overtaken_stops_when_it_wants_to_commit() {
    let (world, mut fleet, client) = start();
    let task = overtaken(&world, &mut fleet, &client).await;
    // It has waited for longer, so it is the one that gets through.
    world.gate.notify_one();
    world.until("begin begin end").await;
    while world.alive.load(Ordering::SeqCst) == 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(client.look(&task).await["status"], "working");
    world.gate.notify_one();
    assert_eq!(said(&client.ended(&task).await), "done");
    assert_eq!(world.done(), "begin begin end end second");
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_was_overtaken_stops_when_it_wants_to_renew() {
    let (world, mut fleet, client) = start();
    let task = overtaken(&world, &mut fleet, &client).await;
    assert_eq!(world.alive.load(Ordering::SeqCst), 2);
    // A third of a lease later at the latest.
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(world.alive.load(Ordering::SeqCst), 1);
    world.gate.notify_one();
    assert_eq!(said(&client.ended(&task).await), "done");
    assert_eq!(world.done(), "begin begin end second");
}

#[tokio::test(start_paused = true)]
async fn a_step_that_fails_for_now_is_tried_again_after_longer_and_longer_pauses() {
    let (world, _fleet, client) = start();
    let task = client.begin("transient", json!({})).await;
    assert_eq!(said(&client.ended(&task).await), "third");
    let tried = world.tried.lock().unwrap();
    let pauses: Vec<_> = tried.windows(2).map(|two| two[1] - two[0]).collect();
    // Whoever is due is found with the next look for work, two seconds later at most.
    for (pause, least) in pauses.iter().zip([1, 2]) {
        let least = Duration::from_secs(least);
        assert!(
            (least..least + Duration::from_secs(3)).contains(pause),
            "{pauses:?}"
        );
    }
    assert_eq!(pauses.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_long_step_keeps_its_lease() {
    let (world, _fleet, client) = start();
    let task = client.begin("hang", json!({})).await;
    tokio::time::sleep(Duration::from_secs(300)).await;
    world.gate.notify_one();
    assert_eq!(said(&client.ended(&task).await), "hung");
    assert_eq!(world.done(), "begin end");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_shows_at_once_and_a_step_that_runs_is_let_finish() {
    let (world, _fleet, client) = start();
    let task = client.begin("hang", json!({})).await;
    world.until("begin").await;
    client.send("tasks/cancel", json!({"taskId": task})).await;
    assert_eq!(client.look(&task).await["status"], "cancelled");
    world.gate.notify_one();
    world.until("begin end").await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(client.look(&task).await["status"], "cancelled");
    assert_eq!(world.done(), "begin end");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_kills_its_workers_fails_in_the_end() {
    let world = Arc::new(World::default());
    let mut fleet = Fleet::new();
    let front = fleet.front(server(&world));
    let task = front.begin("hang", json!({})).await;
    for tries in 1..=3 {
        fleet.instance(server(&world));
        while world.done().matches("begin").count() < tries {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        fleet.kill().await;
    }
    fleet.instance(server(&world));
    let shown = front.ended(&task).await;
    assert_eq!(shown["error"]["code"], -32603);
    assert_eq!(world.done().matches("begin").count(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_instance_works_on_no_more_tasks_at_once_than_it_may() {
    let (world, mut fleet) = (Arc::new(World::default()), Fleet::new());
    let mut config = super::config();
    config.tasks.workers = 2;
    let service = fleet.configured(server(&world), config);
    fleet.employ(&service);
    let client = fleet.front(server(&world));
    for _ in 0..5 {
        client.begin("hang", json!({})).await;
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.done(), "begin begin");
    world.gate.notify_one();
    world.until("begin begin end begin").await;
}

#[tokio::test(start_paused = true)]
async fn an_instance_with_room_takes_up_all_there_is_at_once() {
    let (world, mut fleet) = (Arc::new(World::default()), Fleet::new());
    let mut config = super::config();
    config.tasks.workers = 64;
    let service = fleet.configured(server(&world), config);
    let client = fleet.front(server(&world));
    for _ in 0..40 {
        client.begin("hang", json!({})).await;
    }
    let since = Instant::now();
    fleet.employ(&service);
    world.until(&["begin"; 40].join(" ")).await;
    // Less than one pause between two looks for work.
    assert!(since.elapsed() < Duration::from_millis(20));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_sleeps_a_little_stays_where_it_is() {
    let (_world, _fleet, client) = start();
    let task = client.begin("flaky", json!({})).await;
    assert_eq!(said(&client.ended(&task).await), "0");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_hands_its_work_over_at_once() {
    let (world, mut fleet, client) = start();
    let task = client.begin("hang", json!({})).await;
    world.until("begin").await;
    client.http.shutdown().begin();
    fleet.settled().await;
    world.gate.notify_one();
    let since = Instant::now();
    let elsewhere = fleet.instance(server(&world));
    assert_eq!(said(&elsewhere.ended(&task).await), "hung");
    // Far less than what is left of the lease.
    assert!(since.elapsed() < Duration::from_secs(5));
}
