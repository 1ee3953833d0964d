//! Effects: at least once with a key, at most once with a ledger.

use std::sync::Arc;

use sterna_flow::{Engine, FlowCx, StepErrorKind};

use crate::backends::{Stores, Trouble};
use crate::kit::{Count, Flow, Reply, sha256, text};

async fn charge(cx: FlowCx<'_>, count: Count) -> Reply {
    cx.ask("ok", text("Charge?")).await;
    match cx.try_once("charge", |_key| count.work("charged")).await {
        Ok(id) => Ok(id),
        Err(error) if error.kind == StepErrorKind::Ambiguous => {
            let question = text("It may have event_delivered. Did it?");
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
async fn an_effect_after_a_memo_depends_on_the_answers_inside_the_memo() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        let amount: String = cx
            .memo("quote", |cx| async move {
                cx.ask("amount", text("How much?")).await
            })
            .await;
        cx.ask("ok", text("Sure?")).await;
        let charged = cx
            .try_once("charge", |_| count.work(amount.clone()))
            .await?;
        Ok(format!("charged {charged}, shipped {amount}"))
    }
    let count = Count::default();
    let stores = Stores::new();
    let mut ends = Vec::new();
    // The state of the first round is answered three times. The memo is finished
    // before the round of the effect begins, so its answers are in no journal then.
    for amount in ["1", "1", "1000"] {
        let mut flow = flow(&stores);
        flow.request(&[], handler, count.clone()).await;
        let quoted = [("quote*/amount", amount)];
        let sure = flow.request(&quoted, handler, count.clone()).await;
        assert_eq!(sure, "asks ok: Sure?;");
        ends.push(flow.request(&[("ok", "yes")], handler, count.clone()).await);
    }
    assert_eq!(ends[..2], ["done: charged 1, shipped 1"; 2]);
    assert!(ends[2].starts_with("stopped: MR0420: "), "{}", ends[2]);
    assert_eq!(count.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_repeated_request_may_ask_more_inside_a_memo() {
    /// Asks if the rate is not the first one.
    async fn handler(cx: FlowCx<'_>, (rates, count): (Count, Count)) -> Reply {
        cx.memo("quote", |cx| async move {
            let rate = || async {
                rates.add();
                Ok::<_, String>(rates.get())
            };
            if cx.try_step("rate", rate).await != Ok(1) {
                cx.ask("higher", text("It went up. Go on?")).await;
            }
        })
        .await;
        Ok(cx.try_once("charge", |_| count.work("charged")).await?)
    }
    let (rates, count) = (Count::default(), Count::default());
    let mut flow = flow(&Stores::new());
    let args = || (rates.clone(), count.clone());
    assert_eq!(flow.request(&[], handler, args()).await, "done: charged");
    // The response was lost.
    let again = flow.request(&[], handler, args()).await;
    assert_eq!(again, "asks quote*/higher: It went up. Go on?;");
    let answers = [("quote*/higher", "yes")];
    let end = flow.request(&answers, handler, args()).await;
    assert_eq!(end, "done: charged");
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
        .insert("charge".to_owned(), Default::default());
    let unsure = flow.request(&[("ok", "yes")], charge, count.clone()).await;
    assert_eq!(unsure, "asks did_it: It may have event_delivered. Did it?;");
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
        "stopped: MR0110: `charge` runs at most once, which needs a ledger, and none is configured: a server has one when it is given a store"
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
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        Ok(cx
            .try_once("charge", |_| count.fail("card declined"))
            .await?)
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
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let mut keys = Vec::new();
        for _ in 0..2 {
            let key = cx.try_effect("pay", |key| async move { Ok::<_, String>(key.to_string()) });
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
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        let vm = cx.try_effect("vm", |_| count.work("vm 1")).await?;
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
