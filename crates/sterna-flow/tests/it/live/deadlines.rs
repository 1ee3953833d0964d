//! Questions with a deadline.

use std::time::Duration;

use sterna_flow::{Asked, BuildMatch, ExecutionMode, FlowCx, Outcome};

use super::{opened, rest, task};
use crate::backends::Stores;
use crate::kit::{Flow, Reply, number, text};

#[tokio::test(start_paused = true)]
async fn an_answer_given_in_time_counts_although_the_worker_was_late() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let minute = Duration::from_secs(60);
        let answer = cx.ask("a", text("a?")).deadline(minute).await;
        Ok(answer.unwrap_or_else(|_| "too late".to_owned()))
    }
    let stores = Stores::new();
    let flow = Flow::new();
    let mut driver = task(&flow, &stores, &[]).drive(|cx| Box::pin(handler(cx, ())));
    rest(&flow, &mut driver).await;
    let question = driver.changes().opened.remove(0);
    let asked = [Asked::new("a", question.fingerprint)];
    drop(driver);
    tokio::time::advance(Duration::from_secs(30)).await;
    let answered_at = flow.now();
    tokio::time::advance(Duration::from_secs(300)).await;

    let in_time = task(&flow, &stores, &asked);
    let mut driver = in_time.drive(|cx| Box::pin(handler(cx, ())));
    assert_eq!(driver.next_wake(), question.deadline);
    assert!(driver.answer("a", "A", answered_at));
    let outcome = flow.finish(&mut driver).await;
    assert!(
        matches!(&outcome, Outcome::Finished(text) if text == "A"),
        "{outcome:?}"
    );

    stores.entries.lock().unwrap().truncate(1);
    let late = task(&flow, &stores, &asked);
    let mut driver = late.drive(|cx| Box::pin(handler(cx, ())));
    assert!(!driver.answer("a", "A", flow.now()));
    let outcome = flow.finish(&mut driver).await;
    assert!(
        matches!(&outcome, Outcome::Finished(text) if text == "too late"),
        "{outcome:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_with_its_question() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let minute = Duration::from_secs(60);
        let first = tokio::select! {
            a = cx.ask("a", text("a?")).deadline(minute) => a?,
            b = cx.ask("b", text("b?")) => b,
        };
        Ok(format!("{first} {}", cx.ask("last", text("Last?")).await))
    }
    let flow = Flow::new();
    let run = flow.run().mode(ExecutionMode::Legacy);
    let mut driver = run.drive(|cx| Box::pin(handler(cx, ())));
    rest(&flow, &mut driver).await;
    assert_eq!(opened(&mut driver), ["a", "b"]);
    assert!(driver.answer("b", "B", flow.now()));
    rest(&flow, &mut driver).await;
    assert_eq!(driver.next_wake(), None);
    tokio::time::advance(Duration::from_secs(61)).await;
    rest(&flow, &mut driver).await;
    let journal = driver.journal();
    let keys: Vec<_> = journal.entries().iter().map(|e| e.key().as_str()).collect();
    assert_eq!(keys, ["b"]);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_passed_behind_a_wrong_answer_has_passed() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let minute = Duration::from_secs(60);
        let answer = cx.ask("a", number("how many?")).deadline(minute).await;
        Ok(answer.unwrap_or_else(|_| "too late".to_owned()))
    }
    let mut flow = Flow::new();
    flow.request(&[], handler, ()).await;
    let answered_at = flow.now();
    tokio::time::advance(Duration::from_secs(61)).await;
    let mut driver = flow.run().drive(|cx| Box::pin(handler(cx, ())));
    assert!(driver.answer("a", "many", answered_at));
    let outcome = flow.finish(&mut driver).await;
    assert!(
        matches!(&outcome, Outcome::Finished(text) if text == "too late"),
        "{outcome:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_to_a_reworded_question_does_not_count() {
    async fn handler(cx: FlowCx<'_>, words: &'static str) -> Reply {
        let minute = Duration::from_secs(60);
        let answer = cx.ask("a", text(words)).deadline(minute).await;
        Ok(answer.unwrap_or_else(|_| "too late".to_owned()))
    }
    let mut flow = Flow::new();
    flow.build = BuildMatch::Other;
    flow.request(&[], handler, "Deploy?").await;
    let second = flow.request(&[], handler, "Deploy now?").await;
    assert_eq!(second, "asks a~2: Deploy now?;");
    tokio::time::advance(Duration::from_secs(61)).await;
    let run = flow.run();
    let mut driver = run.drive(|cx| Box::pin(handler(cx, "Deploy now?")));
    assert!(!driver.answer("a~2", "yes", flow.now()));
    let outcome = flow.finish(&mut driver).await;
    assert!(
        matches!(&outcome, Outcome::Finished(text) if text == "too late"),
        "{outcome:?}"
    );
}
