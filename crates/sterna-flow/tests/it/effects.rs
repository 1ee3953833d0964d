//! Effects: at least once with a key, at most once with a ledger.

use std::sync::Arc;

use sterna_flow::{Cx, Engine, StepErrorKind};

use crate::kit::{Count, Flow, Reply, sha256, text};
use crate::plugs::{Stores, Trouble};

async fn charge(cx: Cx<'_>, count: Count) -> Reply {
    cx.ask("ok", text("Charge?")).await;
    match cx.once("charge", |_key| count.work("charged")).await {
        Ok(id) => Ok(id),
        Err(error) if error.kind == StepErrorKind::Ambiguous => {
            let question = text("It may have happened. Did it?");
            Ok(cx.ask("did_it", question).await)
        }
        Err(error) => Err(error.into()),
    }
}

fn flow(stores: &Arc<Stores>) -> Flow {
    Flow::with(Engine::new(sha256).ledger(stores.clone()))
}

#[tokio::test(start_paused = true)]
async fn a_repeated_request_does_not_repeat_the_effect() {
    let count = Count::default();
    let mut flow = flow(&Stores::new());
    flow.request(&[], charge, count.clone()).await;
    for _ in 0..3 {
        // The response was lost, or the balancer sent the request twice.
        let end = flow.request(&[("ok", "yes")], charge, count.clone()).await;
        assert_eq!(end, "done: charged");
    }
    assert_eq!(count.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_was_cut_off_is_not_tried_again() {
    let count = Count::default();
    let stores = Stores::new();
    let mut flow = flow(&stores);
    flow.request(&[], charge, count.clone()).await;
    stores
        .ledger
        .lock()
        .unwrap()
        .insert("charge".to_owned(), None);
    let unsure = flow.request(&[("ok", "yes")], charge, count.clone()).await;
    assert_eq!(unsure, "asks did_it: It may have happened. Did it?;");
    let end = flow
        .request(&[("did_it", "it did")], charge, count.clone())
        .await;
    assert_eq!(end, "done: it did");
    assert_eq!(count.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn without_a_ledger_the_effect_does_not_run() {
    let count = Count::default();
    let mut flow = Flow::new();
    flow.request(&[], charge, count.clone()).await;
    assert_eq!(
        flow.request(&[("ok", "yes")], charge, count.clone()).await,
        "stopped: MR0110: `charge` runs at most once, which needs a ledger, and none is configured"
    );
    assert_eq!(count.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_fails_before_the_effect_stops_it_and_after_it_does_not() {
    let count = Count::default();
    let stores = Stores::new();
    let mut flow = flow(&stores);
    flow.request(&[], charge, count.clone()).await;
    *stores.trouble.lock().unwrap() = Some(Trouble::ClaimFails);
    let answers = [("ok", "yes")];
    let stopped = flow.request(&answers, charge, count.clone()).await;
    assert_eq!(stopped, "stopped: MR0116: `charge` could not be claimed");
    assert_eq!(count.get(), 0);
    *stores.trouble.lock().unwrap() = Some(Trouble::SettleFails);
    let end = flow.request(&answers, charge, count.clone()).await;
    assert_eq!(end, "done: charged");
    assert_eq!(flow.codes(), ["MR0135"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_effect_fails_for_everybody_who_repeats_it() {
    async fn handler(cx: Cx<'_>, count: Count) -> Reply {
        Ok(cx.once("charge", |_| count.fail("card declined")).await?)
    }
    let count = Count::default();
    let mut flow = flow(&Stores::new());
    for _ in 0..2 {
        let end = flow.request(&[], handler, count.clone()).await;
        assert_eq!(end, "failed: step `charge` failed: card declined");
    }
    assert_eq!(count.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn every_try_of_an_effect_has_the_same_key_and_no_other_has_it() {
    async fn handler(cx: Cx<'_>, (): ()) -> Reply {
        let mut keys = Vec::new();
        for _ in 0..2 {
            let key = cx.effect("pay", |key| async move { Ok::<_, String>(key.to_string()) });
            keys.push(key.await?);
        }
        assert_ne!(keys[0], keys[1]);
        Ok(keys.concat())
    }
    let once = Flow::new().request(&[], handler, ()).await;
    let again = Flow::new().request(&[], handler, ()).await;
    assert_eq!(once, again);
}

#[tokio::test(start_paused = true)]
async fn an_effect_before_the_first_question_is_reported() {
    async fn handler(cx: Cx<'_>, count: Count) -> Reply {
        let vm = cx.effect("vm", |_| count.work("vm 1")).await?;
        Ok(cx.ask("keep", text(format!("Keep {vm}?"))).await)
    }
    let mut flow = Flow::new();
    flow.request(&[], handler, Count::default()).await;
    assert_eq!(flow.codes(), ["MR0132"]);
    let said = flow.diagnostics[0].to_string();
    assert!(
        said.contains("`vm`") && said.contains("effects.rs"),
        "{said}"
    );
}
