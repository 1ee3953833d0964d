//! The operator's view.

use std::sync::Arc;

use super::Subject;
use super::case::{Broken, cases, same};
use super::fixture::{
    CALLER, HOUR, LEASE, MINUTE, STRANGER, answer, bytes, claim, claimant, entry, flow, id, name,
    new_task, question,
};
use crate::{
    BlobId, Commit, Effect, EffectClaim, EffectQuery, Lease, Outcome, Passivation, Phase, Status,
    Store, StoreUsage, StoredValue, Survey, SurveyedTask, TaskDetails, TaskId, TaskQuery,
};

/// A store and the operator's view of it.
#[expect(missing_debug_implementations, reason = "a store shows nothing")]
#[expect(clippy::exhaustive_structs, reason = "tests of stores make it")]
pub struct SurveyedStore {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The view of the same store.
    pub survey: Arc<dyn Survey>,
}

cases! { SurveyedStore:
    an_empty_store_shows_nothing,
    tasks_of_all_owners_are_listed_latest_first,
    a_list_can_be_cut_to_one_status,
    a_held_task_shows_its_lease_and_its_worker,
    a_task_at_rest_has_no_worker,
    attempts_are_shown,
    a_journal_is_shown_with_sizes,
    questions_are_shown_in_every_phase,
    values_are_shown_one_at_a_time,
    a_value_is_cut_at_its_limit,
    effects_are_listed_latest_first,
    an_effect_shows_whether_it_has_a_result,
    rows_are_counted_with_their_ends,
    an_empty_store_uses_nothing,
    looking_changes_nothing,
}

type View = Subject<SurveyedStore>;

impl View {
    async fn details(&self, number: u8) -> Result<TaskDetails, Broken> {
        let details = self.store().survey.survey_task(id(number), 100).await?;
        details.ok_or_else(|| Broken::new(format!("task {number} is not shown")))
    }

    async fn tasks(&self) -> Result<Vec<SurveyedTask>, Broken> {
        let survey = &self.store().survey;
        Ok(survey.survey_tasks(TaskQuery::latest(100)).await?.tasks)
    }

    /// The task `number`, created and held.
    async fn begun(&self, number: u8) -> Result<Lease, Broken> {
        let store = &self.store().store;
        store.create(new_task(number)).await?;
        let claimed = store.claim(claim(1)).await?;
        let lease = claimed.first().map(|claimed| claimed.lease);
        lease.ok_or_else(|| Broken::new("there is nothing to claim"))
    }
}

fn ids(tasks: &[SurveyedTask]) -> Vec<TaskId> {
    tasks.iter().map(|task| task.summary.id).collect()
}

async fn an_empty_store_shows_nothing(view: View) -> Result<(), Broken> {
    let survey = &view.store().survey;
    let tasks = survey.survey_tasks(TaskQuery::latest(10)).await?;
    same((tasks.tasks, tasks.next), (Vec::new(), None))?;
    same(survey.survey_task(id(1), 10).await?, None)?;
    let effects = survey.survey_effects(EffectQuery::latest(10)).await?;
    same((effects.effects, effects.is_cut), (Vec::new(), false))?;
    let value = survey.survey_value(id(1), StoredValue::Request, 10);
    same(value.await?, None)
}

async fn tasks_of_all_owners_are_listed_latest_first(view: View) -> Result<(), Broken> {
    let SurveyedStore { store, survey } = view.store();
    for number in 1..=5 {
        let mut new = new_task(number);
        new.principal = if number == 3 { STRANGER } else { CALLER };
        store.create(new).await?;
        view.advance(MINUTE).await?;
    }
    let first = survey.survey_tasks(TaskQuery::latest(2)).await?;
    same(ids(&first.tasks), vec![id(5), id(4)])?;
    let mut query = TaskQuery::latest(2);
    query.before = first.next;
    let second = survey.survey_tasks(query).await?;
    same(ids(&second.tasks), vec![id(3), id(2)])?;
    same(second.tasks[0].owner, STRANGER)?;
    same(second.tasks[0].flow, flow(3))?;
    query.before = second.next;
    let third = survey.survey_tasks(query).await?;
    same((ids(&third.tasks), third.next), (vec![id(1)], None))
}

async fn a_list_can_be_cut_to_one_status(view: View) -> Result<(), Broken> {
    let lease = view.begun(1).await?;
    let SurveyedStore { store, survey } = view.store();
    store
        .finish(lease, Outcome::Completed(bytes("done")))
        .await?;
    store.create(new_task(2)).await?;
    let mut query = TaskQuery::latest(10);
    for (status, wanted) in [
        (Status::Completed, vec![id(1)]),
        (Status::Working, vec![id(2)]),
        (Status::Failed, Vec::new()),
    ] {
        query.status = Some(status);
        same(ids(&survey.survey_tasks(query).await?.tasks), wanted)?;
    }
    Ok(())
}

async fn a_held_task_shows_its_lease_and_its_worker(view: View) -> Result<(), Broken> {
    let lease = view.begun(1).await?;
    let shown = view.details(1).await?;
    let task = &shown.task;
    same(task.worker.as_deref(), Some("worker"))?;
    same((task.control.held, task.control.fence), (true, lease.fence))?;
    let end = task.control.due_at.unwrap_or_default();
    let left = end - shown.now;
    match left > MINUTE / 2 && left <= LEASE {
        true => Ok(()),
        false => Err(Broken::new(format!("the lease of a minute has {left:?}"))),
    }
}

async fn a_task_at_rest_has_no_worker(view: View) -> Result<(), Broken> {
    let lease = view.begun(1).await?;
    let commit = Commit::default().asking([question("go")]);
    let store = &view.store().store;
    store
        .passivate(lease, commit, Passivation::ForAnswers)
        .await?;
    let task = view.details(1).await?.task;
    same(task.worker, None)?;
    same((task.control.held, task.control.due_at), (false, None))?;
    same(task.summary.status, Status::InputRequired)
}

async fn attempts_are_shown(view: View) -> Result<(), Broken> {
    view.begun(1).await?;
    view.advance(HOUR).await?;
    view.store().store.claim(claim(1)).await?;
    let tasks = view.tasks().await?;
    let attempts: Vec<u32> = tasks.iter().map(|task| task.control.attempts).collect();
    same(attempts, vec![2])
}

async fn a_journal_is_shown_with_sizes(view: View) -> Result<(), Broken> {
    let lease = view.begun(1).await?;
    let commit = Commit::of([entry("plan", "three hosts"), entry("build", "")]);
    let SurveyedStore { store, survey } = view.store();
    store.append(lease, commit).await?;
    let shown = view.details(1).await?;
    let journal = shown.journal.iter();
    let sizes: Vec<_> = journal
        .map(|entry| (entry.key.as_str(), entry.bytes))
        .collect();
    same(sizes, vec![("plan", 11), ("build", 0)])?;
    same((shown.request_bytes, shown.outcome_bytes), (7, None))?;
    same(shown.task.control.entries, 2)?;
    store
        .finish(lease, Outcome::Failed(bytes("broken")))
        .await?;
    same(view.details(1).await?.outcome_bytes, Some(6))?;
    let cut = survey.survey_task(id(1), 1).await?;
    same(cut.map(|cut| cut.journal.len()), Some(1))
}

async fn questions_are_shown_in_every_phase(view: View) -> Result<(), Broken> {
    let lease = view.begun(1).await?;
    let store = &view.store().store;
    let both = Commit::default().asking([question("go"), question("why")]);
    store.append(lease, both).await?;
    let answers = vec![answer("why", "because")];
    store.answer(CALLER, id(1), answers).await?;
    let shown = view.details(1).await?.questions;
    let shown: Vec<_> = shown
        .iter()
        .map(|one| (one.asked.key.as_str(), one.asked.phase, one.response_bytes))
        .collect();
    let wanted = vec![("go", Phase::Open, None), ("why", Phase::Answered, Some(7))];
    same(shown, wanted)
}

async fn values_are_shown_one_at_a_time(view: View) -> Result<(), Broken> {
    let lease = view.begun(1).await?;
    let SurveyedStore { store, survey } = view.store();
    let commit = Commit::of([entry("plan", "three hosts")]).asking([question("go")]);
    store.append(lease, commit).await?;
    store
        .answer(CALLER, id(1), vec![answer("go", "yes")])
        .await?;
    store
        .finish(lease, Outcome::Completed(bytes("done")))
        .await?;
    let go = || name("go");
    for (value, wanted) in [
        (StoredValue::Request, Some("request")),
        (StoredValue::Outcome, Some("done")),
        (StoredValue::Entry(name("plan")), Some("three hosts")),
        (StoredValue::Entry(name("other")), None),
        (StoredValue::Question(go()), Some("go?")),
        (StoredValue::Response(go()), Some("yes")),
    ] {
        let found = survey.survey_value(id(1), value.clone(), 100).await?;
        same(found, wanted.map(bytes))?;
        same(survey.survey_value(id(2), value, 100).await?, None)?;
    }
    Ok(())
}

async fn a_value_is_cut_at_its_limit(view: View) -> Result<(), Broken> {
    view.store().store.create(new_task(1)).await?;
    let survey = &view.store().survey;
    for (limit, wanted) in [(0, ""), (3, "req"), (u32::MAX, "request")] {
        let found = survey.survey_value(id(1), StoredValue::Request, limit);
        same(found.await?, Some(bytes(wanted)))?;
    }
    Ok(())
}

async fn effects_are_listed_latest_first(view: View) -> Result<(), Broken> {
    let SurveyedStore { store, survey } = view.store();
    for number in 1..=3 {
        let effect = Effect::new(flow(number), name("charge"));
        let claim = EffectClaim::new(claimant(number), HOUR * 9);
        store.claim_once(effect, claim).await?;
        view.advance(MINUTE).await?;
    }
    let latest = survey.survey_effects(EffectQuery::latest(2)).await?;
    let flows: Vec<_> = latest.effects.iter().map(|one| one.effect.flow).collect();
    same((flows, latest.is_cut), (vec![flow(3), flow(2)], true))?;
    let one = survey.survey_effects(EffectQuery::of(flow(1), 2)).await?;
    let flows: Vec<_> = one.effects.iter().map(|one| one.effect.flow).collect();
    same((flows, one.is_cut), (vec![flow(1)], false))
}

async fn an_effect_shows_whether_it_has_a_result(view: View) -> Result<(), Broken> {
    let SurveyedStore { store, survey } = view.store();
    let charge = Effect::new(flow(1), name("charge"));
    let claim = EffectClaim::new(claimant(1), HOUR);
    store.claim_once(charge.clone(), claim).await?;
    let query = EffectQuery::latest(10);
    let before = survey.survey_effects(query).await?;
    store
        .settle_once(charge, claimant(1), bytes("receipt"))
        .await?;
    let after = survey.survey_effects(query).await?;
    let sizes = [&before, &after].map(|listed| listed.effects[0].result_bytes);
    same(sizes, [None, Some(7)])?;
    let shown = &after.effects[0];
    same(shown.claimant, claimant(1))?;
    same(shown.expires_at - shown.claimed_at, HOUR)?;
    // It is listed until it is swept.
    view.advance(HOUR * 2).await?;
    same(survey.survey_effects(query).await?.effects.len(), 1)?;
    store.sweep_ledger(10).await?;
    same(survey.survey_effects(query).await?.effects.len(), 0)
}

async fn an_empty_store_uses_nothing(view: View) -> Result<(), Broken> {
    let mut usage = view.store().survey.survey_usage().await?;
    // A store on a disk needs some room for its tables, and a shard keeps its place in
    // a blob.
    (usage.disk_bytes, usage.blobs) = Default::default();
    same(usage.clone(), StoreUsage::empty(usage.now))
}

async fn rows_are_counted_with_their_ends(view: View) -> Result<(), Broken> {
    let before = view.store().survey.survey_usage().await?.blobs.rows;
    let lease = view.begun(1).await?;
    let SurveyedStore { store, survey } = view.store();
    store
        .finish(lease, Outcome::Completed(bytes("done")))
        .await?;
    for number in 2..=4 {
        let mut new = new_task(number);
        new.principal = if number == 3 { STRANGER } else { CALLER };
        new.ttl = if number == 4 { None } else { Some(HOUR) };
        store.create(new).await?;
    }
    for (key, wish) in [("pay", MINUTE), ("ship", HOUR)] {
        let effect = Effect::new(flow(1), name(key));
        let claimed = EffectClaim::new(claimant(1), wish);
        store.claim_once(effect, claimed).await?;
    }
    let pay = Effect::new(flow(1), name("pay"));
    store.settle_once(pay, claimant(1), bytes("paid")).await?;
    let blob = BlobId::from_bytes([1; 16]);
    store.put_blob(blob, bytes("a"), MINUTE).await?;
    let usage = survey.survey_usage().await?;
    let tasks: Vec<_> = usage
        .tasks
        .iter()
        .map(|(status, kept)| (*status, kept.rows))
        .collect();
    same(tasks, vec![(Status::Working, 3), (Status::Completed, 1)])?;
    let working = usage
        .tasks
        .get(&Status::Working)
        .copied()
        .unwrap_or_default();
    // One of them never expires.
    same((working.unlimited, working.until), (1, None))?;
    // An owner with tasks on two shards counts on both.
    let owners = 2..=3;
    if !owners.contains(&usage.owners) || !owners.contains(&usage.most_per_owner) {
        return Err(Broken::new(format!("two owners are {usage:?}")));
    }
    same((usage.effects.rows, usage.unreported_effects), (2, 1))?;
    same((usage.effects.expired, usage.blobs.rows - before), (0, 1))?;
    let left = usage.effects.until.unwrap_or_default() - usage.now;
    if left <= MINUTE || left > HOUR {
        return Err(Broken::new(format!("an hour has {left:?}")));
    }
    view.advance(MINUTE * 2).await?;
    let later = survey.survey_usage().await?;
    same((later.effects.expired, later.blobs.expired), (1, 1))
}

async fn looking_changes_nothing(view: View) -> Result<(), Broken> {
    let lease = view.begun(1).await?;
    let SurveyedStore { store, survey } = view.store();
    store
        .append(lease, Commit::default().asking([question("go")]))
        .await?;
    let before = store.read(CALLER, id(1)).await?;
    for _ in 0..3 {
        view.details(1).await?;
        view.tasks().await?;
        survey.survey_effects(EffectQuery::latest(10)).await?;
    }
    same(store.read(CALLER, id(1)).await?, before)?;
    // The lease is still the one of the worker.
    store.renew(lease, LEASE).await?;
    Ok(())
}
