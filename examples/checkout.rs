//! A checkout that wants a second factor above an amount. Any instance goes on
//! with what another began, and a wrong code is counted across all of them.
//!
//! ```text
//! $ sterna keys new keys.toml
//! $ cargo run --bin checkout -- --listen 127.0.0.1:8090 --key-file keys.toml --store shop.db
//! listening on http://127.0.0.1:8090
//! ```
//!
//! `docs/http.md` walks through it with curl; the page at `/` does the same in a
//! browser. The code is always 246810.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use clap::Parser as _;
use examples::application::{Application, Notebook};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sterna_axum::{Cx, IdempotencyKey, Problem, Resume, pausing};

#[derive(Deserialize)]
struct Wish {
    order: String,
}

#[derive(Deserialize, JsonSchema)]
struct Otp {
    /// The six digits that we sent you
    code: String,
}

#[derive(Clone)]
struct Shop(Notebook);

const ORDERS: [(&str, u32); 2] = [("big", 900), ("small", 20)];
const SECOND_FACTOR_ABOVE: u32 = 500;

async fn checkout(
    cx: Cx<'_>,
    State(shop): State<Shop>,
    Json(wish): Json<Wish>,
) -> Result<Json<Value>, Problem> {
    // An identifier came in, not data: the total is read afresh in every round.
    let (order, total) = shop.order(&wish.order)?;
    if total > SECOND_FACTOR_ABOVE {
        cx.try_effect("send_code", |key| shop.note("code sent", order, key))
            .await?;
        loop {
            // The question names the total: if it changes meanwhile, it is asked again.
            let question = format!("Enter the code that we sent you to pay {total} for {order}");
            let Otp { code } = cx.ask("otp", question).await?;
            if cx
                .try_once("check", |key| shop.check(order, code, key))
                .await?
            {
                break;
            }
        }
    }
    cx.try_once("charge", |key| shop.note("charge", order, key))
        .await?;
    Ok(Json(
        json!({ "order": order, "paid": total, "by": cx.caller().subject() }),
    ))
}

impl Shop {
    fn order(&self, order: &str) -> Result<(&'static str, u32), Problem> {
        let known = ORDERS.into_iter().find(|(name, _)| *name == order);
        known.ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "No such order"))
    }

    async fn note(&self, what: &str, order: &str, key: IdempotencyKey) -> Result<(), String> {
        let noted = self
            .0
            .add(&format!("{what} {order}"), &key.to_string())
            .await;
        noted.map_err(|error| error.to_string())
    }

    async fn check(&self, order: &str, code: String, key: IdempotencyKey) -> Result<bool, String> {
        self.note("code checked", order, key).await?;
        Ok(code == "246810")
    }
}

/// Counts what happened, over all instances.
async fn report(State(shop): State<Shop>) -> Result<Json<Value>, Problem> {
    let mut report = Map::new();
    for (order, _) in ORDERS {
        let mut counts = Map::new();
        for (member, what) in [
            ("codes_sent", "code sent"),
            ("codes_checked", "code checked"),
            ("charges", "charge"),
        ] {
            let count = shop.0.count(&format!("{what} {order}")).await;
            let count = count.map_err(|error| std::io::Error::other(error.to_string()))?;
            counts.insert(member.to_owned(), count.into());
        }
        report.insert(order.to_owned(), counts.into());
    }
    Ok(Json(report.into()))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let application = Application::parse();
    let resume = application.resume("https://shop.example").await?;
    application.serve(app(resume)?).await
}

fn app(resume: Resume) -> anyhow::Result<Router> {
    let store = resume.store_in_use().map(Arc::clone);
    let shop = Shop(Notebook::new(
        store.ok_or_else(|| anyhow::anyhow!("no store"))?,
    ));
    let resume = resume.state(shop.clone());
    let checkout = pausing(checkout).asks_secret::<Otp>("otp").build(&resume)?;
    let page = async || {
        (
            [(CONTENT_TYPE, "text/html")],
            include_str!("page/checkout.html"),
        )
    };
    let script = async || {
        (
            [(CONTENT_TYPE, "text/javascript")],
            include_str!("page/pausing.js"),
        )
            .into_response()
    };
    Ok(Router::new()
        .route("/checkout", post(checkout))
        .route("/report", get(report))
        .with_state(shop)
        .route("/", get(page))
        .route("/pausing.js", get(script)))
}

#[cfg(test)]
mod tests {
    use axum::http::Method;
    use examples::application::bearer;
    use sterna_testkit::RouteFlow;

    use super::*;

    fn checkout_of(order: &str) -> RouteFlow {
        let app = |resume: Resume| app(resume.caller(bearer)).unwrap();
        RouteFlow::new(Method::POST, "/checkout", app)
            .body(json!({ "order": order }))
            .header("authorization", "Bearer ada")
            .other_caller("authorization", "Bearer eve")
    }

    #[tokio::test]
    async fn a_large_order_wants_the_code_that_was_sent() {
        let flow = checkout_of("big")
            .answer("otp", json!({"code": "000000"}))
            .answer("otp#2", json!({"code": "246810"}));
        let run = flow.run().await;
        let question = "Enter the code that we sent you to pay 900 for big";
        run.asked("otp").in_round(1).saying(question);
        assert_eq!(run.steps(), ["send_code", "check", "check#2", "charge"]);
        assert_eq!(run.json::<Value>()["paid"], 900);
        flow.check().await;
    }

    #[tokio::test]
    async fn a_small_order_asks_nothing() {
        let run = checkout_of("small").run().await;
        assert_eq!((run.rounds(), run.questions().len()), (1, 0));
    }
}
