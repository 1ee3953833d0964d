//! The pages of the store and of the doctor.

use std::sync::Arc;
use std::time::Duration;

use sterna_store::{
    Claim, Claimant, Commit, Effect, EffectClaim, Entry, FlowId, Ledger as _, MemoryStore, Name,
    NewTask, Outcome, Owner, Passivation, Question, TaskId, Tasks as _,
};

use crate::inspected;
use crate::visitor::Visitor;

/// A store with one task of each kind.
pub(crate) fn filled(text: &str) -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::new());
    let name = |text: &str| Name::new(text).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let minute = Duration::from_secs(60);
    runtime.block_on(async {
        let create = async |number: u8, target: &str| {
            let (id, flow) = (
                TaskId::from_bytes([number; 16]),
                FlowId::from_bytes([number; 16]),
            );
            let owner = Owner::from_digest([number; 32]);
            let request = format!("{{\"text\":\"{text}\"}}");
            let task = NewTask::new(id, owner, flow, name(target), request.into());
            store.create(task).await.unwrap();
        };
        let claim = async |worker: &str| {
            let claim = Claim::new(name(worker), minute);
            store.claim(claim).await.unwrap().remove(0).lease
        };
        create(1, "deploy").await;
        let lease = claim("worker-1").await;
        let commit =
            Commit::of([Entry::new(name("plan"), "not an entry".into())]).asking([Question::new(
                name("reason"),
                [1; 16],
                text.to_owned().into(),
            )]);
        let rest = Passivation::ForAnswers;
        store.passivate(lease, commit, rest).await.unwrap();
        create(2, text).await;
        claim(text).await;
        create(3, "publish").await;
        let lease = claim("worker-3").await;
        let done = Outcome::Completed(text.to_owned().into());
        store.finish(lease, done).await.unwrap();
        let effect = Effect::new(FlowId::from_bytes([1; 16]), name(text));
        let claim = EffectClaim::new(Claimant::from_bytes([1; 16]), minute);
        store.claim_once(effect, claim).await.unwrap();
    });
    store
}

/// The address of a task.
pub(crate) fn task(number: u8) -> String {
    format!("/store/tasks/{}", TaskId::from_bytes([number; 16]))
}

#[test]
fn tasks_leases_questions_and_the_ledger_are_shown_without_values() {
    let store = filled("tell-me-why");
    let visitor = Visitor::with(&inspected::start(), |config| config.store = Some(store));
    let page = visitor.get("/store");
    page.has("input_required")
        .has("rests until an answer comes")
        .has("data-left-ms")
        .has("completed")
        .has("no result");
    visitor
        .get("/store?status=completed")
        .has("publish")
        .lacks("deploy");
    let page = visitor.get(&task(1));
    page.has("deploy")
        .has("plan")
        .has("reason")
        .has("open")
        .has("show");
    // The words of the question and of the request are in no page that was not asked.
    page.lacks("tell-me-why</pre>").lacks("{&quot;text&quot;");
    visitor
        .get(&format!("{}?value=question&key=reason", task(1)))
        .has("<pre tabindex=\"0\">tell-me-why</pre>");
    visitor
        .get(&format!("{}?value=request", task(1)))
        .has("{&quot;text&quot;:&quot;tell-me-why&quot;}");
    visitor
        .get(&format!("{}?value=outcome", task(3)))
        .has("<pre tabindex=\"0\">tell-me-why</pre>");
    // Something that is no entry of a journal is not shown as one.
    visitor
        .get(&format!("{}?value=entry&key=plan", task(1)))
        .has("it cannot be read")
        .lacks("not an entry");
    assert_eq!(visitor.get(&task(9)).status, 404);
    assert_eq!(visitor.get("/store/tasks/nonsense").status, 404);
    visitor
        .get(&format!("{}?value=none", task(1)))
        .lacks("Value of");
}

#[test]
fn a_store_holds_hostile_text_and_the_page_stays_text() {
    let store = filled("<script>alert(1)</script>");
    let visitor = Visitor::with(&inspected::start(), |config| config.store = Some(store));
    for path in [
        "/store".to_owned(),
        task(1),
        task(2),
        format!("{}?value=question&key=reason", task(1)),
        format!("{}?value=outcome", task(3)),
    ] {
        visitor
            .get(&path)
            .lacks("<script>alert")
            .has("&lt;script&gt;");
    }
}

#[test]
fn without_a_store_the_page_says_how_to_get_one() {
    let visitor = Visitor::new(&inspected::start(), None);
    let page = visitor.get("/store");
    assert_eq!(page.status, 404);
    page.has("--store URL");
    visitor.get("/").lacks("href=\"/store\"");
}

#[test]
fn the_doctor_is_a_page() {
    let visitor = Visitor::new(&inspected::start(), None);
    visitor.get("/doctor").has("Examine the server");
    visitor.get("/").has("Deploys after asking");
    let fields = [("tool", "deploy"), ("arguments", "{\"service\":\"web\"}")];
    visitor.post("/doctor", &fields);
    let page = visitor.until("/doctor", "Examine it again");
    page.has("A client of 2026-07-28")
        .has("A client of 2025-11-25")
        .has("refused if it differs")
        .has("deploy: asks reason (form)")
        .has("asks in the middle: form");
    let fields = [("tool", "deploy"), ("arguments", "[1]")];
    let refused = visitor.post("/doctor", &fields);
    assert_eq!(refused.status, 422);
    refused.has("This is not a JSON object").has("[1]");
}

#[test]
fn the_doctor_says_that_a_server_is_gone() {
    let visitor = Visitor::new("http://127.0.0.1:1/mcp", None);
    visitor.post("/doctor", &[]);
    let page = visitor.until("/doctor", "Examine it again");
    page.has("Not healthy.").has("connects");
}
