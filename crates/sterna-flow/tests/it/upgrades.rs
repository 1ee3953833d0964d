//! A new build takes over flows that an old one began.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sterna_flow::{BuildMatch, Changed, Engine, FlowCx, Journal};

use crate::kit::{Count, Flow, Reply, settings, sha256, text};

/// The rolling upgrade of SEP-2322: one login is kept, one is dropped, one is new.
#[tokio::test(start_paused = true)]
async fn github_is_kept_google_is_dropped_and_microsoft_is_asked() {
    async fn old(cx: FlowCx<'_>, (): ()) -> Reply {
        let (github, google) = tokio::join!(
            cx.ask("github_login", text("GitHub?")),
            cx.ask("google_login", text("Google?")),
        );
        Ok(format!("{github} {google}"))
    }
    async fn new(cx: FlowCx<'_>, (): ()) -> Reply {
        let (github, microsoft) = tokio::join!(
            cx.ask("github_login", text("GitHub?")),
            cx.ask("microsoft_login", text("Microsoft?")),
        );
        Ok(format!("{github} {microsoft}"))
    }
    let mut flow = Flow::new();
    let first = flow.request(&[], old, ()).await;
    assert_eq!(first, "asks github_login: GitHub?; google_login: Google?;");
    flow.build = BuildMatch::Other;
    let both = [("github_login", "octocat"), ("google_login", "g")];
    let second = flow.request(&both, new, ()).await;
    assert_eq!(second, "asks microsoft_login: Microsoft?;");
    let third = flow.request(&[("microsoft_login", "m")], new, ()).await;
    assert_eq!(third, "done: octocat m");
    assert!(flow.diagnostics.is_empty(), "{:?}", flow.diagnostics);
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_bounces_between_two_builds_comes_to_an_end() {
    async fn either(cx: FlowCx<'_>, second: &'static str) -> Reply {
        let (github, other) = tokio::join!(
            cx.ask("github_login", text("GitHub?")),
            cx.ask(second, text(second)),
        );
        Ok(format!("{github} {other}"))
    }
    let mut flow = Flow::new();
    flow.request(&[], either, "google_login").await;
    flow.build = BuildMatch::Other;
    let both = [("github_login", "octocat"), ("google_login", "g")];
    let second = flow.request(&both, either, "microsoft_login").await;
    assert_eq!(second, "asks microsoft_login: microsoft_login;");
    // The balancer picks the old build again. It still has its answer.
    let third = flow.request(&[], either, "google_login").await;
    assert_eq!(third, "done: octocat g");
}

#[tokio::test(start_paused = true)]
async fn what_is_added_removed_or_moved_is_found_by_name() {
    async fn old(cx: FlowCx<'_>, count: Count) -> Reply {
        let a = cx.try_step("a", || count.work("a")).await?;
        let gone = cx.try_step("gone", || count.work("gone")).await?;
        let b = cx.ask("b", text("b?")).await;
        let c = cx.ask("c", text("c?")).await;
        Ok(format!("{a} {gone} {b} {c}"))
    }
    async fn new(cx: FlowCx<'_>, count: Count) -> Reply {
        let added = cx.ask("added", text("added?")).await;
        let b = cx.ask("b", text("b?")).await;
        let a = cx.try_step("a", || count.work("a again")).await?;
        let c = cx.ask("c", text("c?")).await;
        Ok(format!("{added} {b} {a} {c}"))
    }
    let count = Count::default();
    let mut flow = Flow::new();
    flow.request(&[], old, count.clone()).await;
    let answers = [("b", "B")];
    flow.request(&answers, old, count.clone()).await;
    flow.build = BuildMatch::Other;
    let first = flow.request(&[("c", "C")], new, count.clone()).await;
    assert_eq!(first, "asks added: added?;", "nothing answered is lost");
    let second = flow.request(&[("added", "X")], new, count.clone()).await;
    assert_eq!(second, "done: X B a C");
    assert_eq!(count.get(), 2, "no step ran again");
    assert_eq!(
        flow.codes(),
        ["MR0133"],
        "the step that is gone is reported"
    );
    assert!(flow.diagnostics[0].to_string().contains("`gone`"));
}

#[tokio::test(start_paused = true)]
async fn a_renamed_question_or_step_finds_what_it_was_called_before() {
    async fn old(cx: FlowCx<'_>, count: Count) -> Reply {
        let plan = cx
            .scope("x")
            .try_step("plan", || count.work("plan"))
            .await?;
        let ok = cx.ask("confirm", text("Ok?")).await;
        let last = cx.ask("last", text("Last?")).await;
        Ok(format!("{plan} {ok} {last}"))
    }
    async fn new(cx: FlowCx<'_>, count: Count) -> Reply {
        let plan = cx
            .scope("x")
            .try_step("blueprint", || count.work("blueprint"))
            .formerly("plan")
            .await?;
        let ok = cx.ask("approval", text("Ok?")).formerly("confirm").await;
        let last = cx.ask("last", text("Last?")).await;
        Ok(format!("{plan} {ok} {last}"))
    }
    let count = Count::default();
    let mut flow = Flow::new();
    flow.request(&[], old, count.clone()).await;
    flow.build = BuildMatch::Other;
    // Asked by the old build, answered to the new one.
    let second = flow
        .request(&[("confirm", "yes")], new, count.clone())
        .await;
    assert_eq!(second, "asks last: Last?;");
    let third = flow.request(&[("last", "x")], new, count.clone()).await;
    assert_eq!(third, "done: plan yes x");
    assert_eq!(count.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_renamed_step_finds_each_of_its_results() {
    async fn old(cx: FlowCx<'_>, count: Count) -> Reply {
        for row in ["one", "two"] {
            cx.scope("rows").try_step("row", || count.work(row)).await?;
        }
        Ok(cx.ask("ok", text("Ok?")).await)
    }
    async fn new(cx: FlowCx<'_>, count: Count) -> Reply {
        let scope = cx.scope("rows");
        let mut rows = Vec::new();
        for _ in 0..2 {
            let line = scope.try_step("line", || count.work("again"));
            rows.push(line.formerly("row").await?);
        }
        Ok(rows.join(" "))
    }
    let count = Count::default();
    let mut flow = Flow::new();
    flow.request(&[], old, count.clone()).await;
    assert_eq!(flow.keys(), "rows/row rows/row#2");
    flow.build = BuildMatch::Other;
    let end = flow.request(&[], new, count.clone()).await;
    assert_eq!(end, "done: one two");
}

#[tokio::test(start_paused = true)]
async fn a_build_without_the_deadline_asks_once_more() {
    async fn old(cx: FlowCx<'_>, (): ()) -> Reply {
        let minute = Duration::from_secs(60);
        match cx.ask("a", text("a?")).deadline(minute).await {
            Ok(answer) => Ok(answer),
            Err(_) => Ok(cx.ask("b", text("b?")).await),
        }
    }
    async fn new(cx: FlowCx<'_>, (): ()) -> Reply {
        Ok(cx.ask("a", text("a?")).await)
    }
    let mut flow = Flow::new();
    flow.request(&[], old, ()).await;
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(flow.request(&[], old, ()).await, "asks b: b?;");
    flow.build = BuildMatch::Other;
    assert_eq!(flow.request(&[], new, ()).await, "asks a~2: a?;");
}

#[derive(Serialize, Deserialize)]
struct Plan {
    name: String,
}

async fn plan_as_text(cx: FlowCx<'_>, count: Count) -> Reply {
    let plan = cx.try_step("plan", || count.work("plan A")).await?;
    Ok(cx.ask("ok", text(plan)).await)
}

async fn make_plan(count: &Count) -> Result<Plan, String> {
    let name = count.work("plan B").await?;
    Ok(Plan { name })
}

#[tokio::test(start_paused = true)]
async fn a_result_of_another_type_stops_the_run_and_names_the_step() {
    async fn plan_as_struct(cx: FlowCx<'_>, count: Count) -> Reply {
        let plan = cx.try_step("plan", || make_plan(&count)).await?;
        Ok(cx.ask("ok", text(plan.name)).await)
    }
    let count = Count::default();
    let mut flow = Flow::new();
    flow.request(&[], plan_as_text, count.clone()).await;
    let stopped = flow.request(&[], plan_as_struct, count.clone()).await;
    assert!(
        stopped.starts_with("stopped: MR0101: the recorded result of `plan` cannot be read"),
        "{stopped}"
    );
    assert_eq!(count.get(), 1);
    // Rolled back, the flow goes on.
    let back = flow.request(&[("ok", "yes")], plan_as_text, count).await;
    assert_eq!(back, "done: yes");
}

#[tokio::test(start_paused = true)]
async fn a_step_may_say_that_it_would_rather_run_again() {
    async fn plan_as_struct(cx: FlowCx<'_>, count: Count) -> Reply {
        let step = cx.try_step("plan", || make_plan(&count));
        let plan = step.rerun_if_unreadable().await?;
        Ok(cx.ask("ok", text(plan.name)).await)
    }
    let count = Count::default();
    let mut flow = Flow::new();
    flow.request(&[], plan_as_text, count.clone()).await;
    let rerun = flow.request(&[], plan_as_struct, count.clone()).await;
    assert_eq!(rerun, "asks ok~2: plan B;");
    assert_eq!(flow.keys(), "plan plan~2");
    let again = flow.request(&[], plan_as_struct, count.clone()).await;
    assert_eq!(again, "asks ok~2: plan B;");
    assert_eq!(count.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_name_cannot_become_something_else() {
    async fn old(cx: FlowCx<'_>, count: Count) -> Reply {
        let plan = cx.try_step("plan", || count.work("plan")).await?;
        Ok(cx.ask("ok", text(plan)).await)
    }
    async fn new(cx: FlowCx<'_>, _: Count) -> Reply {
        Ok(cx.ask("plan", text("Which plan?")).await)
    }
    let mut flow = Flow::new();
    flow.request(&[], old, Count::default()).await;
    assert_eq!(
        flow.request(&[], new, Count::default()).await,
        "stopped: MR0102: `plan` was recorded as Step and is used as Answer"
    );
}

#[tokio::test(start_paused = true)]
async fn a_step_knows_what_it_was_made_from() {
    async fn handler(cx: FlowCx<'_>, (count, input, changed): (Count, u32, Changed)) -> Reply {
        let step = cx.try_step("quote", || count.work(format!("quote for {input}")));
        let quote = step.input(&input, changed).await?;
        Ok(cx.ask("ok", text(quote)).await)
    }
    let count = Count::default();
    let mut flow = Flow::new();
    let args = |input, changed| (count.clone(), input, changed);
    let first = flow.request(&[], handler, args(1, Changed::Fail)).await;
    assert_eq!(first, "asks ok: quote for 1;");
    let same = flow.request(&[], handler, args(1, Changed::Fail)).await;
    assert_eq!(same, "asks ok: quote for 1;");
    assert_eq!(
        flow.request(&[], handler, args(2, Changed::Fail)).await,
        "stopped: MR0106: the input of the step `quote` has changed since it ran"
    );
    let reused = flow.request(&[], handler, args(2, Changed::Reuse)).await;
    assert_eq!(reused, "asks ok: quote for 1;");
    assert_eq!(count.get(), 1);
    let rerun = flow.request(&[], handler, args(2, Changed::Rerun)).await;
    assert_eq!(rerun, "asks ok~2: quote for 2;");
    let back = flow.request(&[], handler, args(1, Changed::Rerun)).await;
    assert_eq!(back, "asks ok~3: quote for 1;", "its old result is there");
    assert_eq!(count.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_new_state_version_ends_old_flows_unless_they_can_be_migrated() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let name = cx.ask("name", text("Who?")).await;
        Ok(format!("{name} {}", cx.ask("last", text("Last?")).await))
    }
    let mut flow = Flow::new();
    flow.request(&[], handler, ()).await;
    flow.request(&[("name", "Ada")], handler, ()).await;

    let version_2 = || Engine::new(sha256).settings(settings(|settings| settings.version = 2));
    flow.engine = version_2();
    assert_eq!(
        flow.request(&[], handler, ()).await,
        "stopped: MR0112: the journal has state version 0, this build has 2"
    );
    flow.engine = version_2().migrate(|_| None);
    assert!(
        flow.request(&[], handler, ())
            .await
            .starts_with("stopped: MR0112")
    );
    flow.engine = version_2().migrate(|mut journal: Journal| {
        assert_eq!(journal.version(), 0);
        journal.set_value("name", "Grace").then_some(journal)
    });
    let migrated = flow.request(&[("last", "x")], handler, ()).await;
    assert_eq!(migrated, "done: Grace x");
}
