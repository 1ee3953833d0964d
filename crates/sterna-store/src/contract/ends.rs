//! Tasks end, once.

use super::Subject;
use super::case::{Broken, cases, refused, same};
use super::fixture::{
    CALLER, HOUR, LEASE, answer, bytes, claim, entry, id, name, new_task, question, together,
};
use crate::{
    Answered, BoxFuture, Commit, Error, ErrorKind, Fence, Lease, Outcome, Passivated, Passivation,
    Question, Status, Tasks,
};

cases! { dyn Tasks:
    every_outcome_can_be_read,
    a_task_may_end_with_a_question_open,
    a_task_that_has_not_begun_is_cancelled_without_a_worker,
    a_task_with_a_journal_is_undone_even_if_it_has_not_begun,
    a_resting_task_that_is_cancelled_goes_to_a_worker_once_more,
    a_task_that_was_begun_is_undone_even_without_a_journal,
    a_held_task_that_is_cancelled_stays_with_its_worker,
    a_cancelled_task_does_not_rest,
    a_cancelled_task_asks_no_questions,
    a_cancelled_task_keeps_what_its_undoing_did,
    a_crash_while_undoing_is_taken_over,
    a_late_result_does_not_bring_a_cancelled_task_back,
    an_end_is_final,
    cancel_and_finish_agree_on_one_end,
}

async fn every_outcome_can_be_read(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let ends = [
        (Outcome::Completed(bytes("result")), Status::Completed),
        (Outcome::Failed(bytes("error")), Status::Failed),
        (Outcome::Cancelled, Status::Cancelled),
    ];
    for (number, (outcome, status)) in (1..).zip(ends) {
        let lease = subject.held(number).await?;
        same(
            subject.store().finish(lease, outcome.clone()).await?,
            status,
        )?;
        let task = subject.seen(number).await?;
        same(task.summary.status, status)?;
        same(task.outcome, outcome.payload().map(|_| outcome.clone()))?;
    }
    Ok(())
}

async fn a_task_may_end_with_a_question_open(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    store
        .append(lease, Commit::default().asking([question("go")]))
        .await?;
    store
        .finish(lease, Outcome::Completed(bytes("done")))
        .await?;
    let task = subject.seen(1).await?;
    same(task.summary.status, Status::Completed)?;
    same(task.questions, Vec::new())?;
    let answered = store
        .answer(CALLER, id(1), vec![answer("go", "late")])
        .await?;
    same(answered, Some(Answered::new(0, Status::Completed)))?;
    subject.idle().await
}

async fn a_task_that_has_not_begun_is_cancelled_without_a_worker(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    subject.store().create(new_task(1)).await?;
    let status = subject.store().cancel(CALLER, id(1)).await?;
    same(status, Some(Status::Cancelled))?;
    same(subject.seen(1).await?.summary.status, Status::Cancelled)?;
    let forged = Lease::new(id(1), Fence::new(0));
    let finished = subject.store().finish(forged, Outcome::Cancelled).await;
    refused(finished, ErrorKind::Fenced)?;
    subject.advance(HOUR).await?;
    subject.idle().await
}

async fn a_task_with_a_journal_is_undone_even_if_it_has_not_begun(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let mut new = new_task(1);
    new.journal = vec![entry("vm", "reserved")];
    subject.store().create(new).await?;
    subject.store().cancel(CALLER, id(1)).await?;
    let claimed = subject.claimed(1).await?;
    same(claimed.summary.status, Status::Cancelled)?;
    same(claimed.journal, vec![entry("vm", "reserved")])
}

async fn a_resting_task_that_is_cancelled_goes_to_a_worker_once_more(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    let commit = Commit::of([entry("vm", "7")]).asking([question("go")]);
    store
        .passivate(lease, commit, Passivation::ForAnswers)
        .await?;
    same(store.cancel(CALLER, id(1)).await?, Some(Status::Cancelled))?;
    let task = subject.seen(1).await?;
    same(task.summary.status, Status::Cancelled)?;
    same(task.questions, Vec::new())?;
    let answered = store
        .answer(CALLER, id(1), vec![answer("go", "late")])
        .await?;
    same(answered, Some(Answered::new(0, Status::Cancelled)))?;
    let claimed = subject.claimed(1).await?;
    same(claimed.summary.status, Status::Cancelled)?;
    same(claimed.journal, vec![entry("vm", "7")])?;
    same(claimed.answers, Vec::new())?;
    same(
        store.finish(claimed.lease, Outcome::Cancelled).await?,
        Status::Cancelled,
    )?;
    subject.advance(LEASE * 2).await?;
    subject.idle().await
}

async fn a_task_that_was_begun_is_undone_even_without_a_journal(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    store
        .passivate(lease, Commit::default(), Passivation::For(HOUR))
        .await?;
    store.cancel(CALLER, id(1)).await?;
    let claimed = subject.claimed(1).await?;
    same(claimed.summary.status, Status::Cancelled)
}

async fn a_held_task_that_is_cancelled_stays_with_its_worker(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    same(store.cancel(CALLER, id(1)).await?, Some(Status::Cancelled))?;
    subject.idle().await?;
    same(store.renew(lease, LEASE).await?.status, Status::Cancelled)?;
    let news = store.append(lease, Commit::of([entry("vm", "7")])).await?;
    same(news.status, Status::Cancelled)?;
    same(
        store.finish(lease, Outcome::Cancelled).await?,
        Status::Cancelled,
    )
}

async fn a_cancelled_task_does_not_rest(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    store
        .append(lease, Commit::default().asking([question("go")]))
        .await?;
    store.cancel(CALLER, id(1)).await?;
    for rest in [Passivation::ForAnswers, Passivation::For(HOUR)] {
        let rested = store.passivate(lease, Commit::default(), rest).await?;
        let Passivated::Refused(news) = rested else {
            return Err(Broken::new("a cancelled task went to rest"));
        };
        same(news.status, Status::Cancelled)?;
    }
    store.renew(lease, LEASE).await?;
    Ok(())
}

async fn a_cancelled_task_asks_no_questions(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    store
        .append(lease, Commit::default().asking([question("go")]))
        .await?;
    store.cancel(CALLER, id(1)).await?;
    // Not even a question that contradicts an earlier one stops the undoing.
    let other = Question::new(name("go"), [2; 16], bytes("stop?"));
    let asking = Commit::of([entry("undo", "ok")]).asking([other, question("why")]);
    let news = store.append(lease, asking).await?;
    same(news.status, Status::Cancelled)?;
    let task = subject.seen(1).await?;
    same(task.summary.status, Status::Cancelled)?;
    same(task.questions, Vec::new())?;
    let answered = store
        .answer(CALLER, id(1), vec![answer("why", "yes")])
        .await?;
    same(answered, Some(Answered::new(0, Status::Cancelled)))
}

async fn a_cancelled_task_keeps_what_its_undoing_did(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    store.append(lease, Commit::of([entry("vm", "7")])).await?;
    store.cancel(CALLER, id(1)).await?;
    store
        .append(lease, Commit::of([entry("undo vm", "ok")]))
        .await?;
    subject.advance(LEASE * 2).await?;
    let journal = subject.claimed(1).await?.journal;
    same(journal, vec![entry("vm", "7"), entry("undo vm", "ok")])
}

async fn a_crash_while_undoing_is_taken_over(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    store.cancel(CALLER, id(1)).await?;
    store
        .passivate(lease, Commit::default(), Passivation::Retry(LEASE))
        .await?;
    subject.idle().await?;
    for attempt in 2..4 {
        subject.advance(LEASE * 2).await?;
        let claimed = subject.claimed(1).await?;
        same(claimed.summary.status, Status::Cancelled)?;
        same(claimed.attempt, attempt)?;
    }
    Ok(())
}

async fn a_late_result_does_not_bring_a_cancelled_task_back(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    subject.store().cancel(CALLER, id(1)).await?;
    let done = Outcome::Completed(bytes("done"));
    same(
        subject.store().finish(lease, done).await?,
        Status::Cancelled,
    )?;
    let task = subject.seen(1).await?;
    same(task.summary.status, Status::Cancelled)?;
    same(task.outcome, None)?;
    subject.advance(LEASE * 2).await?;
    subject.idle().await
}

async fn an_end_is_final(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    let done = Outcome::Completed(bytes("done"));
    store.finish(lease, done.clone()).await?;
    let before = subject.seen(1).await?;
    same(store.cancel(CALLER, id(1)).await?, Some(Status::Completed))?;
    store
        .answer(CALLER, id(1), vec![answer("go", "yes")])
        .await?;
    store.create(new_task(1)).await?;
    same(subject.seen(1).await?, before)?;
    same(store.claim(claim(10)).await?.len(), 0)
}

async fn cancel_and_finish_agree_on_one_end(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    for number in 0..20 {
        let lease = subject.held(number).await?;
        let store = subject.store();
        let finish = store.finish(lease, Outcome::Completed(bytes("done")));
        let finish: BoxFuture<'_, Result<_, Error>> =
            Box::pin(async move { Ok(Some(finish.await?)) });
        let cancel = store.cancel(CALLER, id(number));
        let futures = match number % 2 {
            0 => vec![finish, cancel],
            _ => vec![cancel, finish],
        };
        let status = subject.store();
        for result in together(futures).await {
            let seen = status.read(CALLER, id(number)).await?;
            same(result?, seen.map(|task| task.summary.status))?;
        }
    }
    Ok(())
}
