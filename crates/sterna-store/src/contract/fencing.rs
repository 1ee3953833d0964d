//! A worker that was declared dead and is not can do no harm.

use super::Subject;
use super::case::{Broken, cases, refused, same};
use super::fixture::{CALLER, HOUR, LEASE, bytes, entry, id, question};
use crate::{
    Commit, Error, ErrorKind, Fence, Lease, Outcome, Passivated, Passivation, Status, Tasks,
};

cases! { dyn Tasks:
    a_zombie_can_not_append,
    a_zombie_can_not_passivate,
    a_zombie_can_not_finish,
    a_zombie_can_not_renew,
    an_expired_lease_holds_until_it_is_taken_over,
    a_lease_that_was_given_back_is_no_lease,
    a_forged_lease_is_no_lease,
    finishing_again_is_harmless,
    a_finished_task_takes_no_more_work,
}

/// A lease that has been taken over, and the one that counts.
async fn zombie(subject: &Subject<dyn Tasks>) -> Result<(Lease, Lease), Broken> {
    let dead = subject.held(1).await?;
    subject.advance(LEASE * 2).await?;
    let alive = subject.claimed(1).await?.lease;
    Ok((dead, alive))
}

/// Insists that nothing of what a zombie tried can be seen.
async fn unharmed(subject: &Subject<dyn Tasks>, alive: Lease) -> Result<(), Broken> {
    let task = subject.seen(1).await?;
    same(task.summary.status, Status::Working)?;
    same(task.summary.note, None)?;
    subject
        .store()
        .passivate(alive, Commit::default(), Passivation::HandOver)
        .await?;
    same(subject.claimed(1).await?.journal, Vec::new())
}

async fn a_zombie_can_not_append(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let (dead, alive) = zombie(&subject).await?;
    let commit = Commit::of([entry("plan", "late")]).asking([question("go")]);
    refused(
        subject.store().append(dead, commit).await,
        ErrorKind::Fenced,
    )?;
    unharmed(&subject, alive).await
}

async fn a_zombie_can_not_passivate(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let (dead, alive) = zombie(&subject).await?;
    let commit = Commit::of([entry("plan", "late")]).asking([question("go")]);
    for rest in [
        Passivation::ForAnswers,
        Passivation::For(HOUR),
        Passivation::HandOver,
        Passivation::Retry(HOUR),
    ] {
        let rested = subject.store().passivate(dead, commit.clone(), rest).await;
        refused(rested, ErrorKind::Fenced)?;
    }
    unharmed(&subject, alive).await
}

async fn a_zombie_can_not_finish(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let (dead, alive) = zombie(&subject).await?;
    for outcome in [
        Outcome::Completed(bytes("late")),
        Outcome::Failed(bytes("late")),
        Outcome::Cancelled,
    ] {
        refused(
            subject.store().finish(dead, outcome).await,
            ErrorKind::Fenced,
        )?;
    }
    unharmed(&subject, alive).await
}

async fn a_zombie_can_not_renew(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let (dead, _) = zombie(&subject).await?;
    refused(subject.store().renew(dead, HOUR).await, ErrorKind::Fenced)?;
    subject.advance(LEASE * 2).await?;
    subject.claimed(1).await?;
    Ok(())
}

async fn an_expired_lease_holds_until_it_is_taken_over(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    subject.advance(LEASE * 2).await?;
    let commit = Commit::of([entry("plan", "A")]);
    subject.store().append(lease, commit).await?;
    subject.store().renew(lease, LEASE).await?;
    subject.idle().await?;
    let done = Outcome::Completed(bytes("done"));
    same(
        subject.store().finish(lease, done).await?,
        Status::Completed,
    )
}

async fn a_lease_that_was_given_back_is_no_lease(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let commit = Commit::default().asking([question("go")]);
    let rested = subject
        .store()
        .passivate(lease, commit, Passivation::ForAnswers)
        .await?;
    same(rested, Passivated::Parked)?;
    every_use_is_fenced(&subject, lease).await
}

async fn a_forged_lease_is_no_lease(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    for forged in [
        Lease::new(id(1), lease.fence.next()),
        Lease::new(id(1), Fence::new(0)),
        Lease::new(id(1), Fence::new(u64::MAX)),
        Lease::new(id(2), lease.fence),
    ] {
        every_use_is_fenced(&subject, forged).await?;
    }
    Ok(())
}

async fn every_use_is_fenced(subject: &Subject<dyn Tasks>, lease: Lease) -> Result<(), Broken> {
    let store = subject.store();
    let fenced = |result: Result<(), Error>| refused(result, ErrorKind::Fenced);
    fenced(store.append(lease, Commit::default()).await.map(drop))?;
    fenced(store.renew(lease, LEASE).await.map(drop))?;
    let rested = store
        .passivate(lease, Commit::default(), Passivation::HandOver)
        .await;
    fenced(rested.map(drop))?;
    let finished = store.finish(lease, Outcome::Completed(bytes("late"))).await;
    fenced(finished.map(drop))
}

async fn finishing_again_is_harmless(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let done = Outcome::Completed(bytes("done"));
    for _ in 0..2 {
        let status = subject.store().finish(lease, done.clone()).await?;
        same(status, Status::Completed)?;
    }
    let other = Outcome::Failed(bytes("other"));
    same(
        subject.store().finish(lease, other).await?,
        Status::Completed,
    )?;
    same(subject.seen(1).await?.outcome, Some(done))
}

async fn a_finished_task_takes_no_more_work(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    store
        .finish(lease, Outcome::Completed(bytes("done")))
        .await?;
    let commit = Commit::of([entry("plan", "late")]);
    refused(store.append(lease, commit.clone()).await, ErrorKind::Fenced)?;
    refused(store.renew(lease, LEASE).await, ErrorKind::Fenced)?;
    let rested = store.passivate(lease, commit, Passivation::HandOver).await;
    refused(rested, ErrorKind::Fenced)?;
    same(store.cancel(CALLER, id(1)).await?, Some(Status::Completed))?;
    subject.advance(LEASE * 2).await?;
    subject.idle().await
}
