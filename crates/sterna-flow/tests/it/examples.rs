//! The conversations of SEP-2322, and the loop that everybody writes.

use sterna_flow::FlowCx;

use crate::kit::{Count, Flow, Reply, text};

/// Azure DevOps: resolving a bug needs a resolution, and a duplicate needs the
/// bug it duplicates. Every rule depends on the answer before it.
#[tokio::test(start_paused = true)]
async fn rules_of_a_work_item_lead_from_one_question_to_the_next() {
    async fn update_work_item(cx: FlowCx<'_>, (bug, count): (u32, Count)) -> Reply {
        let question = format!("How was bug #{bug} resolved?");
        let resolution = cx.ask("resolution", text(question)).await;
        let mut change = format!("Bug #{bug} resolved as {resolution}");
        if resolution == "Duplicate" {
            let question = format!("Which bug does #{bug} duplicate?");
            let original = cx.ask("duplicate_of", text(question)).await;
            change = format!("{change} of Bug #{original}");
        }
        let saved = cx.try_step("save", || count.work(change)).await?;
        Ok(saved)
    }
    let count = Count::default();
    let args = || (4522, count.clone());
    let mut flow = Flow::new();
    let first = flow.request(&[], update_work_item, args()).await;
    assert_eq!(first, "asks resolution: How was bug #4522 resolved?;");
    let duplicate = [("resolution", "Duplicate")];
    let second = flow.request(&duplicate, update_work_item, args()).await;
    assert_eq!(
        second,
        "asks duplicate_of: Which bug does #4522 duplicate?;"
    );
    let original = [("duplicate_of", "4301")];
    let third = flow.request(&original, update_work_item, args()).await;
    assert_eq!(third, "done: Bug #4522 resolved as Duplicate of Bug #4301");
    assert_eq!(count.get(), 1);

    let mut flow = Flow::new();
    flow.request(&[], update_work_item, args()).await;
    let fixed = [("resolution", "Fixed")];
    let end = flow.request(&fixed, update_work_item, args()).await;
    assert_eq!(end, "done: Bug #4522 resolved as Fixed");
}

#[tokio::test(start_paused = true)]
async fn a_loop_asks_about_each_row() {
    async fn import(cx: FlowCx<'_>, (rows, count): (Vec<&'static str>, Count)) -> Reply {
        let mut report = Vec::new();
        for row in rows {
            let answer = cx.ask("fix", text(format!("Fix {row}?"))).await;
            let saved = cx
                .try_step("save", || count.work(format!("{row}={answer}")))
                .await?;
            report.push(saved);
        }
        Ok(report.join(" "))
    }
    let count = Count::default();
    let args = || (vec!["a", "b", "c"], count.clone());
    let mut flow = Flow::new();
    assert_eq!(flow.request(&[], import, args()).await, "asks fix: Fix a?;");
    let second = flow.request(&[("fix", "1")], import, args()).await;
    assert_eq!(second, "asks fix#2: Fix b?;");
    let third = flow.request(&[("fix#2", "2")], import, args()).await;
    assert_eq!(third, "asks fix#3: Fix c?;");
    assert_eq!(flow.keys(), "fix save fix#2 save#2");
    let end = flow.request(&[("fix#3", "3")], import, args()).await;
    assert_eq!(end, "done: a=1 b=2 c=3");
    assert_eq!(count.get(), 3);
}

#[tokio::test(start_paused = true)]
async fn all_rows_at_once_take_one_round() {
    async fn import(cx: FlowCx<'_>, (rows, count): (Vec<&'static str>, Count)) -> Reply {
        let report = cx.join_all(rows.iter().map(|row| {
            let (cx, count) = (cx.scope(row), &count);
            async move {
                let answer = cx.ask("fix", text(format!("Fix {row}?"))).await;
                cx.try_step("save", || count.work(format!("{row}={answer}")))
                    .await
            }
        }));
        let report: Result<Vec<String>, _> = report.await.into_iter().collect();
        Ok(report?.join(" "))
    }
    let count = Count::default();
    let args = || (vec!["a", "b/c"], count.clone());
    let mut flow = Flow::new();
    let first = flow.request(&[], import, args()).await;
    assert_eq!(first, "asks a/fix: Fix a?; b%2fc/fix: Fix b/c?;");
    let answers = [("b%2fc/fix", "2"), ("a/fix", "1")];
    let end = flow.request(&answers, import, args()).await;
    assert_eq!(end, "done: a=1 b/c=2");
}
