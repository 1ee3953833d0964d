//! A task's time runs out.

use super::Subject;
use super::case::{Broken, cases, refused, same};
use super::fixture::{CALLER, HOUR, LEASE, bytes, entry, id, new_task, question, sweep};
use crate::{Commit, ErrorKind, Outcome, Page, Passivated, Passivation, Status, Swept, Tasks};

cases! { dyn Tasks:
    a_sweep_leaves_living_tasks_alone,
    a_task_whose_time_is_up_fails,
    a_task_that_ran_out_of_time_is_undone,
    a_held_task_hears_that_its_time_is_up,
    an_ended_task_is_deleted_after_it_was_kept,
    a_task_that_is_not_undone_is_not_deleted,
    a_task_without_a_ttl_lives_forever,
    a_sweep_takes_no_more_than_its_limit,
    a_lease_on_a_deleted_task_is_no_lease,
}

async fn a_sweep_leaves_living_tasks_alone(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let mut new = new_task(1);
    new.ttl = Some(HOUR);
    subject.store().create(new).await?;
    subject.advance(HOUR / 2).await?;
    let swept = subject.store().sweep_tasks(sweep()).await?;
    same(swept, Swept::new(0, 0))?;
    same(subject.seen(1).await?.summary.status, Status::Working)
}

async fn a_task_whose_time_is_up_fails(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let mut new = new_task(1);
    new.ttl = Some(HOUR);
    subject.store().create(new).await?;
    subject.advance(HOUR + LEASE).await?;
    let swept = subject.store().sweep_tasks(sweep()).await?;
    same(swept, Swept::new(1, 0))?;
    let task = subject.seen(1).await?;
    same(task.summary.status, Status::Failed)?;
    same(task.outcome, Some(Outcome::Failed(bytes("too late"))))?;
    // No worker had begun it: there is nothing to undo.
    subject.idle().await
}

async fn a_task_that_ran_out_of_time_is_undone(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let mut new = new_task(1);
    new.ttl = Some(HOUR);
    let store = subject.store();
    store.create(new).await?;
    let lease = subject.claimed(1).await?.lease;
    let commit = Commit::of([entry("vm", "7")]).asking([question("go")]);
    store
        .passivate(lease, commit, Passivation::ForAnswers)
        .await?;
    subject.advance(HOUR + LEASE).await?;
    same(store.sweep_tasks(sweep()).await?, Swept::new(1, 0))?;
    same(store.sweep_tasks(sweep()).await?, Swept::new(0, 0))?;
    let claimed = subject.claimed(1).await?;
    same(claimed.summary.status, Status::Failed)?;
    same(claimed.journal, vec![entry("vm", "7")])?;
    let late = Outcome::Completed(bytes("done"));
    same(store.finish(claimed.lease, late).await?, Status::Failed)?;
    same(
        subject.seen(1).await?.outcome,
        Some(Outcome::Failed(bytes("too late"))),
    )
}

async fn a_held_task_hears_that_its_time_is_up(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let mut new = new_task(1);
    new.ttl = Some(HOUR);
    let store = subject.store();
    store.create(new).await?;
    let lease = subject.claimed(1).await?.lease;
    subject.advance(HOUR + LEASE).await?;
    store.renew(lease, LEASE).await?;
    store.sweep_tasks(sweep()).await?;
    same(store.renew(lease, LEASE).await?.status, Status::Failed)?;
    let rested = store
        .passivate(lease, Commit::default(), Passivation::For(HOUR))
        .await?;
    same(matches!(rested, Passivated::Refused(_)), true)
}

async fn an_ended_task_is_deleted_after_it_was_kept(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let mut new = new_task(1);
    new.ttl = Some(HOUR);
    new.journal = vec![entry("a", "1")];
    let store = subject.store();
    store.create(new).await?;
    let lease = subject.claimed(1).await?.lease;
    store
        .append(lease, Commit::default().asking([question("go")]))
        .await?;
    store
        .finish(lease, Outcome::Completed(bytes("done")))
        .await?;
    subject.advance(HOUR + LEASE).await?;
    same(store.sweep_tasks(sweep()).await?, Swept::new(0, 0))?;
    same(subject.seen(1).await?.summary.status, Status::Completed)?;
    subject.advance(HOUR).await?;
    same(store.sweep_tasks(sweep()).await?, Swept::new(0, 1))?;
    same(store.read(CALLER, id(1)).await?, None)?;
    same(store.list(CALLER, Page::first(10)).await?.tasks, Vec::new())?;
    // Its id is free and nothing of it is left.
    store.create(new_task(1)).await?;
    let claimed = subject.claimed(1).await?;
    same(claimed.journal, Vec::new())?;
    store
        .append(claimed.lease, Commit::default().asking([question("go")]))
        .await?;
    same(subject.seen(1).await?.questions, vec![question("go")])
}

async fn a_task_that_is_not_undone_is_not_deleted(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let mut new = new_task(1);
    new.ttl = Some(HOUR);
    new.journal = vec![entry("vm", "7")];
    let store = subject.store();
    store.create(new).await?;
    subject.advance(HOUR * 9).await?;
    same(store.sweep_tasks(sweep()).await?, Swept::new(1, 0))?;
    same(store.sweep_tasks(sweep()).await?, Swept::new(0, 0))?;
    let claimed = subject.claimed(1).await?;
    store.finish(claimed.lease, Outcome::Cancelled).await?;
    same(store.sweep_tasks(sweep()).await?, Swept::new(0, 1))
}

async fn a_task_without_a_ttl_lives_forever(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    subject.store().create(new_task(1)).await?;
    subject.advance(HOUR * 24 * 365).await?;
    same(
        subject.store().sweep_tasks(sweep()).await?,
        Swept::new(0, 0),
    )?;
    same(subject.seen(1).await?.summary.expires_at, None)
}

async fn a_sweep_takes_no_more_than_its_limit(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let store = subject.store();
    for number in 0..5 {
        let mut new = new_task(number);
        new.ttl = Some(HOUR);
        store.create(new).await?;
    }
    subject.advance(HOUR * 3).await?;
    let mut few = sweep();
    few.limit = 3;
    same(store.sweep_tasks(few.clone()).await?, Swept::new(3, 3))?;
    same(store.sweep_tasks(few).await?, Swept::new(2, 2))
}

async fn a_lease_on_a_deleted_task_is_no_lease(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let mut new = new_task(1);
    new.ttl = Some(HOUR);
    let store = subject.store();
    store.create(new).await?;
    let lease = subject.claimed(1).await?.lease;
    store
        .finish(lease, Outcome::Completed(bytes("done")))
        .await?;
    subject.advance(HOUR * 3).await?;
    store.sweep_tasks(sweep()).await?;
    refused(store.renew(lease, LEASE).await, ErrorKind::Fenced)?;
    refused(
        store.append(lease, Commit::default()).await,
        ErrorKind::Fenced,
    )?;
    refused(
        store.finish(lease, Outcome::Cancelled).await,
        ErrorKind::Fenced,
    )
}
