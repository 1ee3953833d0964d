//! Tasks rest and wake.

use super::Subject;
use super::case::{Broken, cases, refused, same};
use super::fixture::{CALLER, HOUR, LEASE, MINUTE, answer, entry, id, question};
use crate::{Commit, ErrorKind, Passivated, Passivation, Tasks};

cases! { dyn Tasks:
    a_timer_wakes_a_resting_task,
    an_answer_beats_a_timer,
    a_task_handed_over_is_claimed_at_once,
    a_task_without_questions_can_not_wait_for_answers,
    a_retry_waits_and_counts_the_attempt,
    resting_begins_the_attempts_anew,
}

async fn a_timer_wakes_a_resting_task(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let rested = subject
        .store()
        .passivate(lease, Commit::of([entry("a", "1")]), Passivation::For(HOUR))
        .await?;
    same(rested, Passivated::Parked)?;
    // The end of the lease that was given back means nothing.
    subject.advance(LEASE * 2).await?;
    subject.idle().await?;
    subject.advance(HOUR).await?;
    let claimed = subject.claimed(1).await?;
    same(claimed.journal, vec![entry("a", "1")])?;
    same(claimed.attempt, 1)
}

async fn an_answer_beats_a_timer(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    let commit = Commit::default().asking([question("go")]);
    store
        .passivate(lease, commit, Passivation::For(HOUR))
        .await?;
    store
        .answer(CALLER, id(1), vec![answer("go", "yes")])
        .await?;
    let claimed = subject.claimed(1).await?;
    same(claimed.answers.len(), 1)?;
    subject.idle().await
}

async fn a_task_handed_over_is_claimed_at_once(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    store
        .append(lease, Commit::default().asking([question("go")]))
        .await?;
    store
        .answer(CALLER, id(1), vec![answer("go", "yes")])
        .await?;
    let rested = store
        .passivate(lease, Commit::default(), Passivation::HandOver)
        .await?;
    same(rested, Passivated::Parked)?;
    same(subject.claimed(1).await?.answers, vec![answer("go", "yes")])
}

async fn a_task_without_questions_can_not_wait_for_answers(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    let commit = Commit::of([entry("a", "1")]);
    let rested = store
        .passivate(lease, commit.clone(), Passivation::ForAnswers)
        .await;
    refused(rested, ErrorKind::Misuse)?;
    // Nothing of it happened, and the lease is still there.
    store.append(lease, Commit::of([entry("a", "2")])).await?;
    Ok(())
}

async fn a_retry_waits_and_counts_the_attempt(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    let rested = store
        .passivate(lease, Commit::default(), Passivation::Retry(MINUTE))
        .await?;
    same(rested, Passivated::Parked)?;
    subject.idle().await?;
    subject.advance(MINUTE * 2).await?;
    let claimed = subject.claimed(1).await?;
    same(claimed.attempt, 2)?;
    // What failed may have got further than before.
    let commit = Commit::of([entry("a", "1")]);
    store
        .passivate(claimed.lease, commit, Passivation::Retry(MINUTE))
        .await?;
    subject.advance(MINUTE * 2).await?;
    same(subject.claimed(1).await?.attempt, 1)
}

async fn resting_begins_the_attempts_anew(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    subject.held(1).await?;
    subject.advance(LEASE * 2).await?;
    let second = subject.claimed(1).await?;
    same(second.attempt, 2)?;
    let rested = subject
        .store()
        .passivate(second.lease, Commit::default(), Passivation::For(HOUR));
    rested.await?;
    subject.advance(HOUR * 2).await?;
    same(subject.claimed(1).await?.attempt, 1)
}
