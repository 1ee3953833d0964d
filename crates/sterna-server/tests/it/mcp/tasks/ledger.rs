use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sterna_server::{Cx, Middleware, RequestError, RoundInfo, Server, TaskMode, Tool, ToolError};
use sterna_store::{MemoryLimits, MemoryStore, UnixMillis};
use tokio::task::JoinSet;

use super::super::{Client, accept, show};
use super::{Fleet, said};

type Payments = Arc<AtomicUsize>;

async fn pay(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let sure: String = cx.ask("sure", "Sure?").await?;
    let payments = Payments::clone(cx.state());
    let number = cx
        .once("pay", |_| async move {
            payments.fetch_add(1, Ordering::SeqCst) + 1
        })
        .await?;
    Ok(format!("{sure} {number}"))
}

/// Its journal is too large to travel.
async fn big(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let mut length = 0;
    for part in 0..8 {
        let text = cx
            .step(&format!("part-{part}"), || async { "x".repeat(15_000) })
            .await;
        length += text.len();
    }
    let sure: String = cx.ask("sure", "Sure?").await?;
    Ok(format!("{sure} {length}"))
}

/// Pays without `once`, so nothing but the memory of its round keeps it from
/// paying again.
async fn hasty(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let sure: String = cx.ask("sure", "Sure?").await?;
    let number = cx.state::<Payments>().fetch_add(1, Ordering::SeqCst) + 1;
    Ok(format!("{sure} {number}"))
}

/// Breaks down when it is first answered.
async fn stumble(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let sure: String = cx.ask("sure", "Sure?").await?;
    let before = cx.state::<Payments>().fetch_add(1, Ordering::SeqCst);
    assert_ne!(before, 0, "on purpose");
    Ok(format!("{sure} {before}"))
}

fn server(payments: &Payments) -> Server {
    Server::new("ledger", "1")
        .state(Payments::clone(payments))
        .tool("pay", "", pay)
        .tool("big", "", big)
        .tool("hasty", "", hasty)
        .tool("stumble", "", stumble)
        .offer(Tool::new("single", "", pay).single_use())
}

async fn ask(client: &Client, tool: &str) -> (Value, Value) {
    let params = json!({"name": tool, "arguments": {}});
    let asked = client
        .send("tools/call", params.clone())
        .await
        .into_result();
    assert_eq!(show(&asked), "ask {sure: Sure?}");
    (params, asked)
}

fn yes(text: &str) -> Value {
    json!({"sure": accept(json!({"sure": text}))})
}

const REFUSED: &str =
    r#"400 -32602 "Invalid or expired requestState" {"reason":"invalid_request_state"}"#;

#[tokio::test(start_paused = true)]
async fn the_same_retry_gets_the_same_response_on_every_instance() {
    let (fleet, payments) = (Fleet::new(), Payments::default());
    let here = fleet.front(server(&payments));
    let there = fleet.front(server(&payments));
    let (params, asked) = ask(&here, "pay").await;
    let (one, two) = tokio::join!(
        here.retry("tools/call", &params, &asked, yes("yes")),
        there.retry("tools/call", &params, &asked, yes("yes")),
    );
    let (one, two) = (one.into_result(), two.into_result());
    assert_eq!(show(&one), "yes 1");
    assert_eq!(one, two);
    let late = there.retry("tools/call", &params, &asked, yes("yes")).await;
    assert_eq!(late.into_result(), one);
    let other = there.retry("tools/call", &params, &asked, yes("no")).await;
    assert_eq!(other.error(), REFUSED);
    assert_eq!(payments.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_with_a_store_answers_a_round_once_unless_it_forgets_rounds() {
    let (fleet, payments) = (Fleet::new(), Payments::default());
    let client = fleet.front(server(&payments));
    let (params, asked) = ask(&client, "hasty").await;
    let retry = |answer| client.retry("tools/call", &params, &asked, yes(answer));
    for _ in 0..2 {
        assert_eq!(show(&retry("yes").await.into_result()), "yes 1");
    }
    assert_eq!(retry("no").await.error(), REFUSED);
    assert_eq!(payments.load(Ordering::SeqCst), 1);

    let client = fleet.front(server(&payments).forget_rounds());
    let (params, asked) = ask(&client, "hasty").await;
    let retry = |answer| client.retry("tools/call", &params, &asked, yes(answer));
    assert_eq!(show(&retry("yes").await.into_result()), "yes 2");
    assert_eq!(show(&retry("no").await.into_result()), "no 3");
}

#[tokio::test(start_paused = true)]
async fn an_effect_happens_once_though_its_round_is_played_twice() {
    let (fleet, payments) = (Fleet::new(), Payments::default());
    let here = fleet.front(server(&payments).forget_rounds());
    let there = fleet.front(server(&payments).forget_rounds());
    let (params, asked) = ask(&here, "pay").await;
    for client in [here, there] {
        let reply = client
            .retry("tools/call", &params, &asked, yes("yes"))
            .await;
        assert_eq!(show(&reply.into_result()), "yes 1");
    }
    assert_eq!(payments.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_round_that_failed_is_played_again_at_once() {
    let (fleet, payments) = (Fleet::new(), Payments::default());
    let here = fleet.front(server(&payments));
    let there = fleet.front(server(&payments));
    let (params, asked) = ask(&here, "stumble").await;
    let failed = here.retry("tools/call", &params, &asked, yes("yes")).await;
    assert_eq!(failed.error(), r#"500 -32603 "Internal error""#);
    let since = tokio::time::Instant::now();
    let again = there.retry("tools/call", &params, &asked, yes("yes")).await;
    assert_eq!(show(&again.into_result()), "yes 1");
    assert!(since.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_tool_of_single_use_takes_its_answers_once() {
    let (fleet, payments) = (Fleet::new(), Payments::default());
    let client = fleet.front(server(&payments));
    let (params, asked) = ask(&client, "single").await;
    let first = client
        .retry("tools/call", &params, &asked, yes("yes"))
        .await;
    assert_eq!(show(&first.into_result()), "yes 1");
    let second = client
        .retry("tools/call", &params, &asked, yes("yes"))
        .await;
    assert_eq!(second.error(), REFUSED);
}

#[tokio::test(start_paused = true)]
async fn a_state_too_large_to_travel_stays_in_the_store() {
    let (fleet, payments) = (Fleet::new(), Payments::default());
    let client = fleet.front(server(&payments));
    let (params, asked) = ask(&client, "big").await;
    assert!(asked["requestState"].as_str().unwrap().len() < 1000);
    let elsewhere = fleet.front(server(&payments));
    let reply = elsewhere
        .retry("tools/call", &params, &asked, yes("yes"))
        .await;
    assert_eq!(show(&reply.into_result()), "yes 120000");
    // A server that has no store cannot open it, and does not say why.
    let without = Client::of(Server::new("ledger", "1").tool("big", "", big));
    let reply = without
        .retry("tools/call", &params, &asked, yes("yes"))
        .await;
    assert_eq!(reply.error(), REFUSED);
}

/// Charges and ships what was answered, each at most once.
async fn order(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let sure: String = cx.ask("sure", "Sure?").await?;
    let mut done = Vec::new();
    for effect in ["charge", "ship"] {
        let made = cx.once(effect, |_| async {
            // Others get their turn while it runs.
            tokio::task::yield_now().await;
            sure.clone()
        });
        done.push(format!("{effect} {}", made.await?));
    }
    Ok(format!("{} for {sure}", done.join(", ")))
}

fn shop() -> Server {
    let dispatch = Tool::new("dispatch", "", dispatch).task(TaskMode::Optional);
    Server::new("ledger", "1")
        .tool("order", "", order)
        .offer(dispatch.task_on_demand())
}

/// As `order`, as a task from its answer on.
async fn dispatch(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let sure: String = cx.ask("sure", "Sure?").await?;
    cx.become_task().await;
    let shipped = cx.once("ship", |_| async { sure.clone() }).await?;
    Ok(format!("ship {shipped} for {sure}"))
}

#[tokio::test(start_paused = true)]
async fn the_result_of_an_effect_is_not_given_to_another_answer() {
    let fleet = Fleet::new();
    let here = fleet.front(shop().forget_rounds());
    let there = fleet.front(shop().forget_rounds());
    let (params, asked) = ask(&here, "order").await;
    for client in [&here, &there] {
        let same = client.retry("tools/call", &params, &asked, yes("1")).await;
        assert_eq!(show(&same.into_result()), "charge 1, ship 1 for 1");
        let other = client
            .retry("tools/call", &params, &asked, yes("1000"))
            .await;
        assert_eq!(other.error(), REFUSED);
    }
}

/// Sixty retries with one answer and sixty with another, at once.
async fn race(server: impl Fn() -> Server) -> BTreeMap<String, usize> {
    let fleet = Fleet::new();
    let clients = [fleet.front(server()), fleet.front(server())];
    let (params, asked) = ask(&clients[0], "order").await;
    let mut retries = JoinSet::new();
    for n in 0..120 {
        let answer = yes(["1", "1000"][n % 2]);
        let (client, params, asked) = (clients[n / 2 % 2].clone(), params.clone(), asked.clone());
        retries.spawn(async move { client.retry("tools/call", &params, &asked, answer).await });
    }
    let mut seen = BTreeMap::new();
    for reply in retries.join_all().await {
        let shown = match reply.error() {
            refused if refused == REFUSED => "refused".to_owned(),
            _ => show(&reply.into_result()),
        };
        *seen.entry(shown).or_default() += 1;
    }
    seen
}

#[tokio::test(start_paused = true)]
async fn raced_answers_are_the_one_that_won_or_refused() {
    let seen = race(shop).await;
    let won: Vec<_> = seen.keys().filter(|shown| *shown != "refused").collect();
    assert!(
        won == ["charge 1, ship 1 for 1"] || won == ["charge 1000, ship 1000 for 1000"],
        "{seen:?}"
    );
    assert_eq!(seen["refused"], 60, "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn raced_answers_do_not_mix_where_rounds_are_forgotten() {
    let seen = race(|| shop().forget_rounds()).await;
    let mut won: Vec<_> = seen.keys().map(String::as_str).collect();
    // One that meets an effect in progress cannot know how it ends.
    won.retain(|shown| *shown != "refused" && !shown.contains("its result is unknown"));
    assert!(
        won == ["charge 1, ship 1 for 1"] || won == ["charge 1000, ship 1000 for 1000"],
        "{seen:?}"
    );
    assert_eq!(seen["refused"], 60, "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_became_a_task_shares_no_effect_with_another_answer() {
    let mut fleet = Fleet::new();
    let client = fleet.instance(shop().forget_rounds());
    let (params, asked) = ask(&client, "dispatch").await;
    for (answer, end) in [
        ("1", "ship 1 for 1"),
        ("1000", "Invalid or expired requestState"),
        ("1", "ship 1 for 1"),
    ] {
        let retry = client.retry("tools/call", &params, &asked, yes(answer));
        let created = retry.await.into_result();
        let ended = client.ended(created["taskId"].as_str().unwrap()).await;
        let shown = match ended["error"]["message"].as_str() {
            Some(message) => message.to_owned(),
            None => said(&ended).to_owned(),
        };
        assert_eq!(shown, end, "{ended}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_malformed_answer_does_not_use_up_the_round() {
    let (fleet, payments) = (Fleet::new(), Payments::default());
    let client = fleet.front(server(&payments));
    for tool in ["pay", "single"] {
        let (params, asked) = ask(&client, tool).await;
        let malformed = json!({"sure": "yes"});
        let refused = client.retry("tools/call", &params, &asked, malformed).await;
        assert_eq!(
            refused.error(),
            r#"400 -32602 "Invalid params: `sure` in `inputResponses` must be an object""#
        );
        let right = client
            .retry("tools/call", &params, &asked, yes("yes"))
            .await;
        assert!(show(&right.into_result()).starts_with("yes "), "{tool}");
    }
}

/// Refuses the first retry that it sees.
struct Reluctant(AtomicUsize);

impl Middleware for Reluctant {
    fn before(&self, round: &RoundInfo<'_>) -> Result<(), RequestError> {
        let is_retry = round.round() > 0;
        match is_retry && self.0.fetch_add(1, Ordering::SeqCst) == 0 {
            true => Err(RequestError::invalid_params("Not now")),
            false => Ok(()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_refuses_does_not_use_up_the_round() {
    let (fleet, payments) = (Fleet::new(), Payments::default());
    let client = fleet.front(server(&payments).middleware(Reluctant(AtomicUsize::new(0))));
    let (params, asked) = ask(&client, "pay").await;
    let refused = client.retry("tools/call", &params, &asked, yes("no")).await;
    assert!(refused.error().contains("Not now"), "{}", refused.error());
    let right = client
        .retry("tools/call", &params, &asked, yes("yes"))
        .await;
    assert_eq!(show(&right.into_result()), "yes 1");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_asks_nothing_writes_nothing_into_the_store() {
    async fn greet(_cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
        Ok("hello".to_owned())
    }
    let payments = Payments::default();
    let mut limits = MemoryLimits::default();
    limits.bytes = 0;
    let full = MemoryStore::with_clock(limits, || UnixMillis::new(1_785_231_000_000));
    let server = server(&payments).tool("greet", "", greet);
    let client = Client::of(server.store(Arc::new(full)))
        .with_capabilities(json!({"elicitation": {"form": {}}}));
    let greeted = client.send("tools/call", json!({"name": "greet"})).await;
    assert_eq!(show(&greeted.into_result()), "hello");
    // A retry is entered, and a store without room refuses that.
    let (params, asked) = ask(&client, "pay").await;
    let retried = client
        .retry("tools/call", &params, &asked, yes("yes"))
        .await;
    assert_eq!(retried.error(), r#"500 -32603 "Internal error""#);
}

#[tokio::test(start_paused = true)]
async fn an_effect_is_forgotten_a_week_after_its_flow_could_have_ended() {
    let (fleet, payments) = (Fleet::new(), Payments::default());
    let client = fleet.front(server(&payments));
    let (params, asked) = ask(&client, "pay").await;
    client
        .retry("tools/call", &params, &asked, yes("yes"))
        .await
        .into_result();
    // A flow lives for a day. Rounds may be remembered as long, and no longer.
    let day = Duration::from_secs(24 * 60 * 60);
    fleet.skip(day * 2);
    fleet.store.sweep_ledger(1000).await.unwrap();
    fleet.skip(day * 5);
    assert_eq!(fleet.store.sweep_ledger(1000).await.unwrap(), 0);
    fleet.skip(day);
    assert_eq!(fleet.store.sweep_ledger(1000).await.unwrap(), 1);
}
