//! Progress and logs of a handler, sent once only.

use sterna_flow::{FlowCx, Level, Outcome, Progress};

use crate::backends::Stores;
use crate::kit::{Count, Flow, Reply, text};

#[tokio::test(start_paused = true)]
async fn a_replay_is_silent() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        cx.log(Level::Info, "begins");
        cx.try_step("plan", || count.work("plan")).await?;
        cx.progress(Progress::new(1.0).of(3.0));
        let answer = cx.ask("a", text("a?")).await;
        cx.log(Level::Notice, format!("got {answer}"));
        let last = cx.ask("b", text("b?")).await;
        cx.progress(Progress::new(3.0).of(3.0).saying("done"));
        Ok(last)
    }
    let stores = Stores::new();
    let mut flow = Flow::new();
    for answers in [vec![], vec![], vec![("a", "A")], vec![("b", "B")]] {
        let mut driver = flow
            .run()
            .listener(stores.clone())
            .drive(|cx| Box::pin(handler(cx, Count::default())));
        for (key, answer) in answers {
            driver.answer(key, answer, flow.now());
        }
        if let Outcome::Suspended(suspended) = flow.finish(&mut driver).await {
            flow.journal = suspended.journal;
        }
    }
    assert_eq!(
        *stores.heard.lock().unwrap(),
        [
            "Info begins",
            "progress 1 of Some(3.0)",
            "Notice got A",
            "progress 3 of Some(3.0)"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_the_first_question_is_not_said_again() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        cx.log(Level::Info, format!("replaying: {}", cx.info().replaying));
        let answer = cx.ask("a", text("a?")).await;
        cx.log(Level::Info, format!("got {answer}"));
        Ok(answer)
    }
    let stores = Stores::new();
    let mut flow = Flow::new();
    // The journal of the second round has no entry, only what was asked.
    for answers in [&[][..], &[], &[("a", "A")]] {
        let run = flow.run().listener(stores.clone());
        let mut driver = run.drive(|cx| Box::pin(handler(cx, ())));
        for (key, answer) in answers {
            driver.answer(key, *answer, flow.now());
        }
        if let Outcome::Suspended(suspended) = flow.finish(&mut driver).await {
            flow.journal = suspended.journal;
        }
    }
    let heard = stores.heard.lock().unwrap().clone();
    assert_eq!(heard, ["Info replaying: false", "Info got A"]);
}
