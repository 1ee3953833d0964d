//! A tool with its tests: `sterna-testkit` plays the client, loses responses
//! and kills replicas, and sees to it that nobody pays twice.
//!
//! The tests are at the end; run them with `cargo test --bin tested`.
//!
//! ```text
//! $ cargo run --bin tested
//! client: book {"seat":"12A"}
//! server: pay? "Seat 12A costs 42. Pay now?"
//! client: {"pay":{}}
//! server: "Seat 12A is yours"
//! ```

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use examples::{Conversation, keys};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use sterna_server::{Cx, Server, ToolError};

#[derive(Deserialize, JsonSchema)]
struct Book {
    seat: String,
}

/// A bank that knows by its key whether it has seen a payment.
#[derive(Clone, Default)]
struct Bank(Arc<Mutex<BTreeMap<String, u32>>>);

impl Bank {
    fn pay(&self, key: String, amount: u32) {
        let mut payments = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        payments.insert(key, amount);
    }
}

async fn book(cx: Cx<'_>, args: Book) -> Result<String, ToolError> {
    let seat = args.seat;
    let price = cx.step("price", || async { 42 }).await;
    let question = format!("Seat {seat} costs {price}. Pay now?");
    if !cx.confirm("pay", question).await? {
        return Ok(format!("Seat {seat} stays free"));
    }
    let bank = cx.state::<Bank>().clone();
    // It may run twice, with the same key: the bank sees that it is the same payment.
    cx.effect("charge", |key| async move {
        bank.pay(key.to_string(), price);
    })
    .await;
    Ok(format!("Seat {seat} is yours"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let server = Server::new("airline", env!("CARGO_PKG_VERSION"))
        .tool("book", "Books a seat", book)
        .state(Bank::default())
        .keys(keys()?)
        .anonymous();
    let server = server.build()?.into_tower()?;

    let mut call = Conversation::begin("book", json!({"seat": "12A"}))?;
    call.round(&server).await?;
    call.answer(json!({"pay": {}}))?;
    call.round(&server).await
}

#[cfg(test)]
mod tests {
    use sterna_testkit::Flow;

    use super::*;

    fn booking() -> Flow {
        let payments = |bank: &Bank| {
            let payments = bank.0.lock().unwrap();
            payments
                .values()
                .map(|paid| format!("pay {paid}"))
                .collect()
        };
        Flow::of(book)
            .args(json!({"seat": "12A"}))
            .world(Bank::default, payments)
    }

    #[tokio::test]
    async fn a_seat_is_paid_for_once_whatever_dies() {
        let flow = booking().agree("pay");
        let run = flow.run().await;
        run.asked("pay")
            .in_round(1)
            .saying("Seat 12A costs 42. Pay now?");
        assert_eq!(run.text(), "Seat 12A is yours");
        assert_eq!(run.effects(), ["pay 42"]);
        flow.check().await;
    }

    #[tokio::test]
    async fn nobody_pays_who_does_not_want_to() {
        let flow = booking().decline("pay");
        assert_eq!(flow.run().await.text(), "Seat 12A stays free");
        flow.check().await;
    }
}
