//! Instances of several versions on one store, as in the middle of a rollout.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use sterna_server::{Cx, Server, TaskMode, Tool, ToolError};
use sterna_store::{Claim, Commit, Entry, Name, Passivation};

use super::super::{Client, accept};
use super::{Fleet, capabilities, said};

type Runs = Arc<AtomicUsize>;

async fn plan(cx: &Cx<'_>) -> Result<usize, ToolError> {
    let runs = Runs::clone(cx.state());
    let plan = cx.try_step("plan", || async move {
        Ok::<_, ToolError>(runs.fetch_add(1, Ordering::SeqCst) + 1)
    });
    Ok(plan.await?)
}

async fn old(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let plan = plan(&cx).await?;
    let (github, google) = tokio::join!(
        cx.ask::<String>("github", "Github?"),
        cx.ask::<String>("google", "Google?"),
    );
    Ok(format!("{plan} {} {}", github?, google?))
}

async fn new(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let plan = plan(&cx).await?;
    let (github, microsoft) = tokio::join!(
        cx.ask::<String>("github", "Github?"),
        cx.ask::<String>("microsoft", "Microsoft?"),
    );
    Ok(format!("{plan} {} {}", github?, microsoft?))
}

async fn add(_: Cx<'_>, (): ()) -> &'static str {
    "42"
}

fn before(runs: &Runs) -> Server {
    Server::new("versions", "1")
        .state(Runs::clone(runs))
        .offer(Tool::new("login", "", old).task(TaskMode::Always))
}

fn after(runs: &Runs) -> Server {
    Server::new("versions", "2")
        .state(Runs::clone(runs))
        .offer(Tool::new("login", "", new).task(TaskMode::Always))
        .offer(Tool::new("add", "", add).task(TaskMode::Always))
}

/// A client of an instance that works, of that version of its handlers' state.
fn instance(fleet: &mut Fleet, server: Server, version: u32) -> Client {
    let service = fleet.versioned(server, version);
    fleet.employ(&service);
    Client::at(service).with_capabilities(capabilities())
}

#[tokio::test(start_paused = true)]
async fn a_task_that_an_older_build_began_goes_on_in_a_newer_one() {
    let (runs, mut fleet) = (Runs::default(), Fleet::new());
    let client = fleet.instance(before(&runs));
    let task = client.begin("login", json!({})).await;
    client.until(&task, &["input_required"]).await;
    let answer = json!({"github": accept(json!({"github": "ada"}))});
    client.update(&task, answer).await;
    client.until(&task, &["input_required"]).await;
    fleet.kill().await;
    let client = fleet.instance(after(&runs));
    let google = json!({"google": accept(json!({"google": "ada"}))});
    client.update(&task, google).await;
    // What was answered stays answered, what is not asked any more is dropped.
    let mut shown = client.until(&task, &["input_required"]).await;
    while shown["inputRequests"].get("microsoft").is_none() {
        tokio::time::sleep(Duration::from_millis(50)).await;
        shown = client.until(&task, &["input_required"]).await;
    }
    let asked: Vec<_> = shown["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(asked, ["microsoft"]);
    let microsoft = json!({"microsoft": accept(json!({"microsoft": "lovelace"}))});
    client.update(&task, microsoft).await;
    assert_eq!(said(&client.ended(&task).await), "1 ada lovelace");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn an_older_instance_leaves_a_tool_alone_that_it_does_not_have() {
    let (runs, mut fleet) = (Runs::default(), Fleet::new());
    let front = fleet.front(after(&runs));
    fleet.instance(before(&runs));
    let task = front.begin("add", json!({})).await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(front.look(&task).await["status"], "working");
    fleet.instance(after(&runs));
    assert_eq!(said(&front.ended(&task).await), "42");
}

#[tokio::test(start_paused = true)]
async fn an_older_instance_leaves_tasks_of_a_newer_version_to_those_who_know_it() {
    let (runs, mut fleet) = (Runs::default(), Fleet::new());
    let newer = instance(&mut fleet, after(&runs), 2);
    let task = newer.begin("login", json!({})).await;
    newer.until(&task, &["input_required"]).await;
    fleet.kill().await;
    // Long enough for it to be tried to death, were it tried at all.
    instance(&mut fleet, before(&runs), 1);
    let answers = json!({
        "github": accept(json!({"github": "ada"})),
        "microsoft": accept(json!({"microsoft": "lovelace"})),
    });
    newer.update(&task, answers).await;
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert_eq!(newer.look(&task).await["status"], "working");
    instance(&mut fleet, after(&runs), 2);
    assert_eq!(said(&newer.ended(&task).await), "1 ada lovelace");
}

#[tokio::test(start_paused = true)]
async fn a_task_of_a_version_that_is_not_served_any_more_fails_and_says_so() {
    let (runs, mut fleet) = (Runs::default(), Fleet::new());
    let older = instance(&mut fleet, before(&runs), 1);
    let task = older.begin("login", json!({})).await;
    older.until(&task, &["input_required"]).await;
    fleet.kill().await;
    let newer = instance(&mut fleet, after(&runs), 2);
    let answer = json!({"github": accept(json!({"github": "ada"}))});
    newer.update(&task, answer).await;
    let shown = newer.ended(&task).await;
    assert_eq!(shown["status"], "failed");
    assert_eq!(
        shown["statusMessage"],
        "The task was begun by an earlier version of the server"
    );
}

#[tokio::test(start_paused = true)]
async fn a_journal_in_a_format_of_tomorrow_is_not_touched() {
    let (runs, mut fleet) = (Runs::default(), Fleet::new());
    let front = fleet.front(before(&runs));
    let task = front.begin("login", json!({})).await;
    // A worker of tomorrow gets as far as its first step, and dies.
    let wish = Claim::new(Name::new("tomorrow").unwrap(), Duration::from_secs(30));
    let claimed = fleet.store.claim(wish).await.unwrap().remove(0);
    let entry = Entry::new(Name::new("plan").unwrap(), "\u{7f}of tomorrow".into());
    let lease = claimed.lease;
    fleet
        .store
        .append(lease, Commit::of([entry]))
        .await
        .unwrap();
    let rest = Passivation::HandOver;
    fleet
        .store
        .passivate(lease, Commit::default(), rest)
        .await
        .unwrap();
    fleet.instance(before(&runs));
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert_eq!(front.look(&task).await["status"], "working");
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}
