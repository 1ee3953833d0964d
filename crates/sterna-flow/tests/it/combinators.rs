//! Everybody's combinators, unmodified.

use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use sterna_flow::{FlowCx, Outcome};
use tokio::sync::oneshot;

use crate::kit::{Count, Flow, Reply, text};

#[tokio::test(start_paused = true)]
async fn one_thing_after_the_other() {
    async fn deploy(cx: FlowCx<'_>, count: Count) -> Reply {
        let plan = cx.try_step("plan", || count.work("plan A")).await?;
        let ok = cx.ask("approval", text(format!("Deploy {plan}?"))).await;
        let id = cx.try_step("apply", || count.work("id 1")).await?;
        Ok(format!("{plan} {ok} {id}"))
    }
    let count = Count::default();
    let mut flow = Flow::new();
    let first = flow.request(&[], deploy, count.clone()).await;
    assert_eq!(first, "asks approval: Deploy plan A?;");
    assert_eq!(flow.keys(), "plan");
    let answers = [("approval", "yes")];
    let second = flow.request(&answers, deploy, count.clone()).await;
    assert_eq!(second, "done: plan A yes id 1");
    assert_eq!(count.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn joined_questions_are_asked_together_and_missing_ones_again() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        let (owner, reason, plan) = tokio::join!(
            cx.ask("owner", text("Who?")),
            cx.ask("reason", text("Why?")),
            cx.try_step("plan", || count.work("plan")),
        );
        Ok(format!("{owner} {reason} {}", plan?))
    }
    let count = Count::default();
    let mut flow = Flow::new();
    let first = flow.request(&[], handler, count.clone()).await;
    assert_eq!(first, "asks owner: Who?; reason: Why?;");
    assert_eq!(flow.keys(), "plan");
    let partial = [("reason", "because")];
    let second = flow.request(&partial, handler, count.clone()).await;
    assert_eq!(second, "asks owner: Who?;");
    let rest = [("owner", "Ada")];
    let third = flow.request(&rest, handler, count.clone()).await;
    assert_eq!(third, "done: Ada because plan");
    assert_eq!(count.get(), 1);
    assert!(flow.diagnostics.is_empty(), "{:?}", flow.diagnostics);
}

#[tokio::test(start_paused = true)]
async fn an_unbiased_select_has_the_same_winner_in_every_replay() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let winner = tokio::select! {
            a = cx.ask("a", text("a?")) => a,
            b = cx.ask("b", text("b?")) => b,
        };
        let last = cx.ask("last", text(format!("after {winner}?"))).await;
        Ok(format!("{winner} {last}"))
    }
    for repetition in 0..200 {
        let mut flow = Flow::new();
        flow.request(&[], handler, ()).await;
        // Both at once: the first in the request wins, for every random order.
        let both = [("b", "B"), ("a", "A")];
        let second = flow.request(&both, handler, ()).await;
        assert_eq!(second, "asks last: after B?;", "{repetition}");
        let third = flow.request(&[], handler, ()).await;
        assert_eq!(third, "asks last: after B?;", "{repetition}");
        let last = flow.request(&[("last", "x")], handler, ()).await;
        assert_eq!(last, "done: B x", "{repetition}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_that_beats_a_question_has_beaten_it_for_good() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        let first = tokio::select! {
            answer = cx.ask("question", text("?")) => answer,
            result = cx.try_step("quick", || count.work("quick")) => result?,
        };
        let last = cx.ask("last", text(first.clone())).await;
        Ok(format!("{first} {last}"))
    }
    let count = Count::default();
    let mut flow = Flow::new();
    let first = flow.request(&[], handler, count.clone()).await;
    assert_eq!(first, "asks last: quick;");
    let answers = [("question", "too late"), ("last", "x")];
    let second = flow.request(&answers, handler, count.clone()).await;
    assert_eq!(second, "done: quick x");
    assert_eq!(count.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn futures_unordered_gives_answers_in_the_order_they_came() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let mut asking: FuturesUnordered<_> = ["a", "b", "c"]
            .into_iter()
            .map(|name| cx.ask(name, text(name)))
            .collect();
        let mut order = String::new();
        while let Some(answer) = asking.next().await {
            order.push_str(&answer);
        }
        Ok(order)
    }
    let mut flow = Flow::new();
    flow.request(&[], handler, ()).await;
    let second = flow.request(&[("c", "C")], handler, ()).await;
    assert_eq!(second, "asks a: a; b: b;");
    let third = flow.request(&[("b", "B"), ("a", "A")], handler, ()).await;
    assert_eq!(third, "done: CBA");
}

#[tokio::test(start_paused = true)]
async fn forty_questions_at_once() {
    async fn handler(cx: FlowCx<'_>, ours: bool) -> Reply {
        let asking = (0..40).map(|row| cx.scope(row).ask("fix", text("?")));
        let answers = match ours {
            true => cx.join_all(asking).await,
            false => futures::future::join_all(asking).await,
        };
        Ok(answers.concat())
    }
    for ours in [true, false] {
        let mut flow = Flow::new();
        flow.request(&[], handler, ours).await;
        let keys: Vec<String> = (0..40).rev().map(|row| format!("{row}/fix")).collect();
        let answers: Vec<_> = keys.iter().map(|key| (key.as_str(), "x")).collect();
        let second = flow.request(&answers[..39], handler, ours).await;
        assert_eq!(second, "asks 0/fix: ?;");
        let third = flow.request(&answers[39..], handler, ours).await;
        assert_eq!(third, format!("done: {}", "x".repeat(40)));
        // Only a set of futures with an executor of its own makes it wait.
        assert_eq!(flow.codes().is_empty(), ours);
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_of_tokio_begins_anew_in_every_round_and_is_reported() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let minute = Duration::from_secs(60);
        let asked = tokio::time::timeout(minute, cx.ask("a", text("a?"))).await;
        Ok(asked.unwrap_or_else(|_| "too late".to_owned()))
    }
    let mut flow = Flow::new();
    assert_eq!(flow.request(&[], handler, ()).await, "asks a: a?;");
    assert_eq!(flow.codes(), ["MR0130"]);
    tokio::time::advance(Duration::from_secs(3600)).await;
    let second = flow.request(&[("a", "A")], handler, ()).await;
    assert_eq!(second, "done: A");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_yields_gets_its_turn_again() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        let (answer, result) = tokio::join!(cx.ask("a", text("a?")), async {
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            cx.try_step("late", || count.work("late")).await
        });
        Ok(format!("{answer} {}", result?))
    }
    let count = Count::default();
    let mut flow = Flow::new();
    let first = flow.request(&[], handler, count.clone()).await;
    assert_eq!(first, "asks a: a?;");
    assert_eq!(
        flow.keys(),
        "late",
        "the branch had time to get to its step"
    );
    let second = flow.request(&[("a", "A")], handler, count.clone()).await;
    assert_eq!(second, "done: A late");
    assert_eq!(count.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn branches_may_talk_to_each_other() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let (sender, receiver) = oneshot::channel();
        let (sent, heard) = tokio::join!(
            async {
                let name = cx.ask("name", text("Name?")).await;
                sender.send(name.clone()).ok();
                name
            },
            async {
                let name = receiver.await.unwrap_or_default();
                cx.ask("greeting", text(format!("Greet {name}?"))).await
            }
        );
        Ok(format!("{sent} {heard}"))
    }
    let mut flow = Flow::new();
    assert_eq!(flow.request(&[], handler, ()).await, "asks name: Name?;");
    let second = flow.request(&[("name", "Ada")], handler, ()).await;
    assert_eq!(second, "asks greeting: Greet Ada?;");
    let third = flow.request(&[("greeting", "Hi")], handler, ()).await;
    assert_eq!(third, "done: Ada Hi");
}

#[tokio::test(start_paused = true)]
async fn futures_dropped_before_and_after_their_first_poll_leave_nothing_behind() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        drop(cx.ask("unpolled", text("?")));
        drop(cx.try_step("unpolled-step", || count.work("x")));
        let mut polled = cx.ask("polled", text("?"));
        assert!(futures::poll!(&mut polled).is_pending());
        drop(polled);
        let mut step = cx.try_step("polled-step", || count.work("x"));
        assert!(futures::poll!(&mut step).is_pending());
        drop(step);
        tokio::select! {
            biased;
            _ = cx.try_step("running", std::future::pending::<Result<(), String>>) => {}
            _ = cx.ask("stop", text("Stop?")) => {}
        }
        Ok(cx.ask("unpolled", text("again?")).await)
    }
    let count = Count::default();
    let mut flow = Flow::new();
    // The step that never ends is drained for ever, so the client is told by
    // another way: here it is the second run that answers first.
    let mut driver = flow
        .run()
        .mode(sterna_flow::ExecutionMode::Legacy)
        .drive(|cx| Box::pin(handler(cx, count.clone())));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    while driver.changes().opened.is_empty() {
        assert!(driver.poll(flow.now(), &mut cx).is_pending());
    }
    assert!(driver.answer("stop", "yes", flow.now()));
    let opened = loop {
        assert!(driver.poll(flow.now(), &mut cx).is_pending());
        let opened = driver.changes().opened;
        if !opened.is_empty() {
            break opened;
        }
    };
    assert_eq!(opened.len(), 1);
    assert_eq!(opened[0].key.as_str(), "unpolled#2");
    assert_eq!(count.get(), 0);
    flow.diagnostics.extend(driver.take_diagnostics());
    assert!(flow.diagnostics.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_question_can_be_put_early_and_awaited_late() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        let mut early = cx.ask("early", text("early?"));
        assert!(futures::poll!(&mut early).is_pending());
        let other = cx.ask("other", text("other?")).await;
        let result = cx.try_step("work", || count.work("work")).await?;
        Ok(format!("{other} {result} {}", early.await))
    }
    let count = Count::default();
    let mut flow = Flow::new();
    let first = flow.request(&[], handler, count.clone()).await;
    assert_eq!(first, "asks early: early?; other: other?;");
    let both = [("early", "E"), ("other", "O")];
    let second = flow.request(&both, handler, count.clone()).await;
    assert_eq!(second, "done: O work E");
}

#[tokio::test(start_paused = true)]
async fn a_handler_whose_tokio_budget_is_spent_is_not_taken_for_one_at_rest() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        for number in 0..500 {
            sender.send(number).ok();
        }
        // Spends the budget of this task, so that the select below is not
        // polled at all when it should be.
        let (_, winner) = tokio::join!(
            async { while receiver.recv().await.is_some_and(|number| number < 499) {} },
            async {
                tokio::select! {
                    a = cx.ask("a", text("a?")) => a,
                    b = cx.ask("b", text("b?")) => b,
                }
            }
        );
        Ok(winner)
    }
    for _ in 0..50 {
        let mut flow = Flow::new();
        let first = flow.request(&[], handler, ()).await;
        assert_eq!(first, "asks a: a?; b: b?;");
        let mut driver = flow.run().drive(|cx| Box::pin(handler(cx, ())));
        driver.answer("b", "B", flow.now());
        driver.answer("a", "A", flow.now());
        let outcome = flow.finish_constrained(&mut driver).await;
        assert!(
            matches!(&outcome, Outcome::Finished(winner) if winner == "B"),
            "{outcome:?}"
        );
    }
}
