//! Questions: what counts as an answer, and to what.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use sterna_flow::{Engine, FlowCx, FlowId, Opaque, Outcome, Pin, Run, UnixMillis};

use crate::kit::{Count, Flow, Reply, number, settings, sha256, text};

#[tokio::test(start_paused = true)]
async fn an_answer_to_one_plan_is_no_answer_to_another() {
    async fn deploy(cx: FlowCx<'_>, plan: &'static str) -> Reply {
        let question = text(format!("Deploy {plan}?"));
        Ok(format!("{plan}: {}", cx.ask("approval", question).await))
    }
    let mut flow = Flow::new();
    flow.request(&[], deploy, "plan A").await;
    let yes = [("approval", "yes")];
    let second = flow.request(&yes, deploy, "plan B").await;
    assert_eq!(second, "asks approval~2: Deploy plan B?;");
    let yes = [("approval~2", "really")];
    let third = flow.request(&yes, deploy, "plan B").await;
    assert_eq!(third, "done: plan B: really");
}

#[tokio::test(start_paused = true)]
async fn answers_to_both_wordings_are_kept_while_two_builds_run_side_by_side() {
    async fn deploy(cx: FlowCx<'_>, words: &'static str) -> Reply {
        let approval = cx.ask("approval", text(words)).await;
        let last = cx.ask("last", text("Sure?")).await;
        Ok(format!("{approval} {last}"))
    }
    let mut flow = Flow::new();
    flow.request(&[], deploy, "old words").await;
    flow.request(&[("approval", "A")], deploy, "new words")
        .await;
    let third = flow
        .request(&[("approval~2", "B")], deploy, "new words")
        .await;
    assert_eq!(third, "asks last: Sure?;");
    // The old build gets the next request: it has its answer, too.
    let fourth = flow.request(&[("last", "yes")], deploy, "old words").await;
    assert_eq!(fourth, "done: A yes");
}

#[tokio::test(start_paused = true)]
async fn words_do_not_matter_to_a_question_pinned_to_its_schema() {
    async fn deploy(cx: FlowCx<'_>, words: &'static str) -> Reply {
        Ok(cx.ask("owner", text(words)).pin(Pin::Schema).await)
    }
    let mut flow = Flow::new();
    flow.request(&[], deploy, "Who owns it?").await;
    let answers = [("owner", "Ada")];
    let second = flow
        .request(&answers, deploy, "Please name the owner")
        .await;
    assert_eq!(second, "done: Ada");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_fit_is_asked_again_with_the_reason() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let age = cx.ask("age", number("How old?")).await;
        let name = cx.ask("name", text("Who?")).await;
        Ok(format!("{name} {age}"))
    }
    let mut flow = Flow::new();
    flow.request(&[], handler, ()).await;
    let second = flow.request(&[("age", "old")], handler, ()).await;
    assert_eq!(second, "asks age~2: How old? (`old` is no number);");
    // The journal keeps the reason and not the answer.
    assert_eq!(
        &flow.journal.entries()[0].value()[..],
        b"`old` is no number"
    );
    let third = flow.request(&[], handler, ()).await;
    assert_eq!(third, "asks age~2: How old? (`old` is no number);");
    let fourth = flow.request(&[("age~2", "very")], handler, ()).await;
    assert_eq!(fourth, "asks age~3: How old? (`very` is no number);");
    let fifth = flow.request(&[("age~3", "42")], handler, ()).await;
    assert_eq!(fifth, "asks name: Who?;");
    let sixth = flow.request(&[("name", "Ada")], handler, ()).await;
    assert_eq!(sixth, "done: Ada 42");
}

#[tokio::test(start_paused = true)]
async fn only_what_was_asked_can_be_answered() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let first = cx.ask("first", text("1?")).await;
        let second = cx.ask("second", text("2?")).await;
        Ok(format!("{first} {second}"))
    }
    let mut flow = Flow::new();
    // No question has been asked yet, so no answer can count.
    let eager = [("first", "yes"), ("second", "yes")];
    assert_eq!(flow.request(&eager, handler, ()).await, "asks first: 1?;");
    let eager = [("second", "early"), ("first", "1"), ("first", "twice")];
    assert_eq!(flow.request(&eager, handler, ()).await, "asks second: 2?;");
    let late = [("first", "changed my mind"), ("second", "2")];
    assert_eq!(flow.request(&late, handler, ()).await, "done: 1 2");
}

#[tokio::test(start_paused = true)]
async fn a_flow_may_not_ask_for_ever() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        cx.undo("reservation", {
            let count = count.clone();
            move |_| async move {
                count.add();
            }
        });
        loop {
            cx.ask("more", text("More?")).await;
        }
    }
    let engine = Engine::new(sha256).settings(settings(|settings| settings.max_rounds = 2));
    let mut flow = Flow::with(engine);
    let count = Count::default();
    flow.request(&[], handler, count.clone()).await;
    flow.request(&[("more", "x")], handler, count.clone()).await;
    let answers = [("more#2", "x")];
    let third = flow.request(&answers, handler, count.clone()).await;
    let expected = "stopped: MR0105: the flow asks again after all its 2 rounds";
    assert_eq!(third, expected);
    assert_eq!(count.get(), 1, "what was reserved is given back");
}

#[tokio::test(start_paused = true)]
async fn a_question_gives_up_at_its_deadline_and_stays_that_way() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let hour = Duration::from_secs(3600);
        let answer = cx.ask("approval", text("Ok?")).deadline(hour).await;
        let answer = answer.unwrap_or_else(|elapsed| elapsed.to_string());
        let last = cx.ask("last", text(answer.clone())).await;
        Ok(format!("{answer} {last}"))
    }
    let mut flow = Flow::new();
    assert_eq!(flow.request(&[], handler, ()).await, "asks approval: Ok?;");
    tokio::time::advance(Duration::from_secs(1800)).await;
    // The clock goes on from the first time it was asked.
    assert_eq!(flow.request(&[], handler, ()).await, "asks approval: Ok?;");
    tokio::time::advance(Duration::from_secs(1800)).await;
    let late = flow.request(&[("approval", "yes")], handler, ()).await;
    assert_eq!(late, "asks last: no answer came in time;");
    let answers = [("approval", "yes"), ("last", "x")];
    let end = flow.request(&answers, handler, ()).await;
    assert_eq!(end, "done: no answer came in time x");
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_time_stops_the_clock() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let hour = Duration::from_secs(3600);
        let answer = cx.ask("approval", text("Ok?")).deadline(hour).await?;
        let last = cx.ask("last", text(answer.clone())).await;
        Ok(format!("{answer} {last}"))
    }
    let mut flow = Flow::new();
    flow.request(&[], handler, ()).await;
    let in_time = flow.request(&[("approval", "yes")], handler, ()).await;
    assert_eq!(in_time, "asks last: yes;");
    assert_eq!(flow.keys(), "approval");
    tokio::time::advance(Duration::from_secs(7200)).await;
    let end = flow.request(&[("last", "x")], handler, ()).await;
    assert_eq!(end, "done: yes x");
}

#[test]
fn a_flow_gets_on_however_few_polls_its_turn_is_given() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        Ok(cx.ask("name", text("Who?")).await)
    }
    for polls in 0..4 {
        let mut few = settings(|_| {});
        few.polls_per_turn = polls;
        let engine = Arc::new(Engine::new(sha256).settings(few));
        let run = Run::new(engine, FlowId::from_bytes([7; 16]));
        let mut driver = run.drive(|cx| Box::pin(handler(cx, ())));
        let mut context = Context::from_waker(Waker::noop());
        let outcome = (0..10).find_map(|_| match driver.poll(UnixMillis::new(0), &mut context) {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => None,
        });
        assert!(matches!(outcome, Some(Outcome::Suspended(_))), "{polls}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_may_be_nothing_but_bytes() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let answer = cx.ask("raw", Opaque::new("what?")).await;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
    let mut flow = Flow::new();
    assert_eq!(flow.request(&[], handler, ()).await, "asks raw: what?;");
    let end = flow.request(&[("raw", "that")], handler, ()).await;
    assert_eq!(end, "done: that");
}
