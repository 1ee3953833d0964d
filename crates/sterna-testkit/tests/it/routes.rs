//! Routes that ask, and what is wrong with some of them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use http::Method;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sterna_axum::{Cx, Pausing, PausingHandler, Problem, Resume, pausing};
use sterna_seal::Principal;
use sterna_testkit::{Failure, RouteFlow};

#[derive(Clone, Default)]
struct Shop(Arc<Mutex<Vec<String>>>);

impl Shop {
    fn note(&self, what: &str) {
        self.0.lock().unwrap().push(what.to_owned());
    }

    fn effects(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Otp {
    code: String,
}

async fn checkout(
    cx: Cx<'_>,
    State(shop): State<Shop>,
    body: Json<Value>,
) -> Result<String, Problem> {
    cx.once("send", async |_| shop.note("send")).await?;
    loop {
        let Otp { code } = cx
            .ask("otp", format!("Code for {}?", body["order"]))
            .await?;
        if cx.once("check", async |_| code == "246810").await? {
            break;
        }
    }
    cx.once("charge", async |_| shop.note("charge")).await?;
    Ok(format!("paid {}", cx.uuid("receipt")))
}

/// A flow of `handler`, whose caller is named by the header `x-user`.
fn flow<H, F>(handler: H, declare: F) -> RouteFlow
where
    H: for<'a> PausingHandler<'a, (State<Shop>, Json<Value>), Output = Result<String, Problem>>
        + Clone
        + Send
        + Sync
        + 'static,
    <H as PausingHandler<'static, (State<Shop>, Json<Value>)>>::Future: Send + 'static,
    F: Fn(Pausing<Shop>) -> Pausing<Shop> + Send + Sync + 'static,
{
    let app = move |resume: Resume, shop: Shop| {
        let resume = resume.state(shop).caller(|parts| {
            let user = parts.headers.get("x-user")?.to_str().ok()?;
            Some(Principal::named("shop", user))
        });
        let route = declare(pausing(handler.clone())).build(&resume).unwrap();
        Router::new().route("/checkout", post(route))
    };
    RouteFlow::with_world(Method::POST, "/checkout", Shop::default, Shop::effects, app)
        .body(json!({"order": "big"}))
        .header("x-user", "ada")
        .other_caller("x-user", "eve")
}

fn otp(route: Pausing<Shop>) -> Pausing<Shop> {
    route.asks_secret::<Otp>("otp")
}

fn answered(flow: RouteFlow) -> RouteFlow {
    flow.answer("otp", json!({"code": "246810"}))
}

#[tokio::test]
async fn a_run_tells_what_was_asked_and_done() {
    let flow = flow(checkout, otp)
        .answer("otp", json!({"code": "1"}))
        .answer("otp#2", json!({"code": "246810"}));
    let run = flow.run().await;
    run.asked("otp").in_round(1).saying("Code for \"big\"?");
    run.asked("otp#2").in_round(2);
    assert_eq!(run.questions(), ["otp", "otp#2"]);
    assert_eq!(run.effects(), ["send", "charge"]);
    assert_eq!(run.steps(), ["send", "check", "check#2", "charge"]);
    assert_eq!((run.status().as_u16(), run.rounds()), (200, 3));
    assert!(run.transcript().contains("asks `otp#2`"), "{run}");
}

#[tokio::test]
async fn a_good_route_passes_every_check() {
    let checked = answered(flow(checkout, otp)).check().await;
    assert_eq!(
        (checked.replays, checked.repeats, checked.other_callers),
        (1, 2, 1)
    );
    assert!(checked.crashes > 10, "{checked}");
}

#[track_caller]
fn finds(failed: Result<impl Sized, Failure>, parts: &[&str]) {
    let Err(failure) = failed else {
        panic!("no failure");
    };
    let text = failure.to_string();
    for part in parts {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[tokio::test]
async fn a_question_that_is_not_declared_fails_the_run() {
    let run = answered(flow(checkout, |route| route)).try_run().await;
    finds(
        run,
        &[
            "POST /checkout asks `otp`, and the route does not declare it",
            ".asks::<T>",
        ],
    );
    let other = |route: Pausing<Shop>| route.asks::<u32>("otp");
    let run = answered(flow(checkout, other)).try_run().await;
    finds(run, &["asks `otp` of another type"]);
    let declined = flow(checkout, |route| route).decline("otp");
    finds(declined.try_check().await, &["does not declare it"]);
}

#[tokio::test]
async fn a_script_that_does_not_fit_fails_the_run() {
    finds(
        flow(checkout, otp).try_run().await,
        &["asks `otp`, and the script has no answer"],
    );
    let more = answered(flow(checkout, otp)).answer("name", "Ada");
    finds(
        more.try_run().await,
        &["never asked for the answer to `name`"],
    );
}

#[tokio::test]
async fn a_question_that_differs_between_instances_is_found() {
    static ROUND: AtomicU32 = AtomicU32::new(0);
    async fn counting(cx: Cx<'_>, _: State<Shop>, _: Json<Value>) -> Result<String, Problem> {
        let round = ROUND.fetch_add(1, Ordering::Relaxed);
        let Otp { code } = cx.ask("otp", format!("Code {round}?")).await?;
        Ok(code)
    }
    let checked = answered(flow(counting, otp)).answer("otp", json!({"code": "1"}));
    let failed = checked.try_check().await.map(drop);
    assert!(failed.is_err());
}

#[tokio::test]
async fn an_effect_outside_of_a_step_is_found() {
    async fn hasty(cx: Cx<'_>, shop: State<Shop>, _: Json<Value>) -> Result<String, Problem> {
        shop.note("looked");
        let Otp { code } = cx.ask("otp", "Code?").await?;
        Ok(code)
    }
    let checked = answered(flow(hasty, otp)).try_check().await;
    finds(
        checked,
        &["has an effect outside of a step when it is replayed"],
    );
}

#[tokio::test]
async fn a_step_that_should_be_a_once_is_found() {
    async fn careless(cx: Cx<'_>, shop: State<Shop>, _: Json<Value>) -> Result<String, Problem> {
        let Otp { code } = cx.ask("otp", "Code?").await?;
        cx.step("charge", async || shop.note("charge")).await;
        cx.once("mail", async |_| shop.note("mail")).await?;
        Ok(code)
    }
    let checked = answered(flow(careless, otp)).try_check().await;
    finds(checked, &["does \"charge\" more than once", "cx.once"]);
}

#[tokio::test]
async fn an_effect_before_the_first_question_needs_an_idempotency_key() {
    let checked = answered(flow(checkout, otp)).without_idempotency_key();
    finds(
        checked.try_check().await,
        &["does \"send\" more than once", "Idempotency-Key"],
    );
}

#[tokio::test]
async fn a_route_that_any_caller_can_resume_is_found() {
    let open = |route: Pausing<Shop>| otp(route).anonymous();
    let checked = answered(flow(checkout, open)).try_check().await;
    finds(checked, &["can be resumed by another caller"]);
}
