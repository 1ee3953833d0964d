//! Calls that come at once may share a transaction. Each has its own result.

use super::Subject;
use super::case::{Broken, cases, refused, same};
use super::fixture::{
    CALLER, LEASE, STRANGER, answer, bytes, claim, entry, id, new_task, question, together,
};
use crate::{
    Answered, BoxFuture, Commit, Error, ErrorKind, Lease, Outcome, Passivation, Status, Tasks,
};

cases! { dyn Tasks:
    a_call_that_fails_fails_alone,
    a_call_without_a_fence_changes_nothing_beside_one_with,
    every_verb_may_come_at_once_with_the_others,
    calls_about_one_task_are_taken_one_by_one,
    creations_at_once_keep_to_the_quota,
}

/// The tasks 1 to `count`, created and held.
async fn held(subject: &Subject<dyn Tasks>, count: u8) -> Result<Vec<Lease>, Broken> {
    for number in 1..=count {
        subject.store().create(new_task(number)).await?;
    }
    let mut claimed = subject.store().claim(claim(u32::from(count))).await?;
    claimed.sort_by_key(|claimed| claimed.lease.task);
    let leases: Vec<_> = claimed.iter().map(|claimed| claimed.lease).collect();
    same(leases.len(), usize::from(count))?;
    Ok(leases)
}

/// The value under `plan` of each of `leases`, which are given back.
async fn plans(
    subject: &Subject<dyn Tasks>,
    leases: &[Lease],
) -> Result<Vec<Option<String>>, Broken> {
    for lease in leases {
        let parked = Passivation::HandOver;
        let parked = subject.store().passivate(*lease, Commit::default(), parked);
        parked.await?;
    }
    let mut claimed = subject.store().claim(claim(100)).await?;
    claimed.sort_by_key(|claimed| claimed.lease.task);
    let plan = |claimed: crate::Claimed| {
        let plan = claimed.journal.first();
        plan.map(|entry| String::from_utf8_lossy(&entry.value).into_owned())
    };
    Ok(claimed.into_iter().map(plan).collect())
}

async fn a_call_that_fails_fails_alone(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let leases = held(&subject, 9).await?;
    let broken = leases[4];
    let first = Commit::of([entry("plan", "first")]);
    subject.store().append(broken, first).await?;
    let commit = |lease: &Lease| {
        let commit = Commit::of([entry("plan", "later")]);
        subject.store().append(*lease, commit)
    };
    let results = together(leases.iter().map(commit).collect()).await;
    for (lease, result) in leases.iter().zip(results) {
        if *lease == broken {
            refused(result, ErrorKind::Conflict)?;
        } else {
            result?;
        }
    }
    let mut wanted = vec![Some("later".to_owned()); 9];
    wanted[4] = Some("first".to_owned());
    same(plans(&subject, &leases).await?, wanted)
}

async fn a_call_without_a_fence_changes_nothing_beside_one_with(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lost = held(&subject, 6).await?;
    subject.advance(LEASE * 2).await?;
    let mut taken = subject.store().claim(claim(6)).await?;
    taken.sort_by_key(|claimed| claimed.lease.task);
    let alive: Vec<_> = taken.iter().map(|claimed| claimed.lease).collect();
    same(alive.len(), 6)?;
    // Of each task one worker writes that holds it and one that lost it.
    let commit = |(lease, text): (Lease, &str)| {
        let commit = Commit::of([entry("plan", text)]);
        subject.store().append(lease, commit)
    };
    let calls = lost.iter().zip(&alive);
    let calls = calls.flat_map(|(lost, alive)| [(*lost, "late"), (*alive, "good")]);
    for (number, result) in together(calls.map(commit).collect())
        .await
        .into_iter()
        .enumerate()
    {
        if number.is_multiple_of(2) {
            refused(result, ErrorKind::Fenced)?;
        } else {
            result?;
        }
    }
    let wanted = vec![Some("good".to_owned()); 6];
    same(plans(&subject, &alive).await?, wanted)
}

/// Result of any verb, written as text.
type Verdict<'a> = BoxFuture<'a, Result<String, Error>>;

fn verdict<'a, T: std::fmt::Debug + 'a>(call: BoxFuture<'a, Result<T, Error>>) -> Verdict<'a> {
    Box::pin(async move { call.await.map(|value| format!("{value:?}")) })
}

async fn every_verb_may_come_at_once_with_the_others(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let leases = held(&subject, 8).await?;
    let store = subject.store();
    let asking = Commit::default().asking([question("go")]);
    store.append(leases[0], asking).await?;
    let nothing = Commit::default();
    let results = together(vec![
        verdict(store.answer(CALLER, id(1), vec![answer("go", "yes")])),
        verdict(store.answer(STRANGER, id(2), vec![answer("go", "yes")])),
        verdict(store.cancel(CALLER, id(3))),
        verdict(store.cancel(STRANGER, id(4))),
        verdict(store.cancel(CALLER, id(99))),
        verdict(store.finish(leases[4], Outcome::Completed(bytes("done")))),
        verdict(store.passivate(leases[5], nothing.clone(), Passivation::ForAnswers)),
        verdict(store.passivate(leases[6], nothing, Passivation::HandOver)),
        verdict(store.renew(leases[7], LEASE)),
        verdict(store.renew(Lease::new(id(98), leases[7].fence), LEASE)),
        verdict(store.create(new_task(9))),
    ])
    .await;
    let results: Vec<_> = results
        .into_iter()
        .map(|result| result.map_err(|error| error.kind()))
        .collect();
    let answered = Answered::new(1, Status::Working);
    same(&results[0], &Ok(format!("{:?}", Some(answered))))?;
    for (number, wanted) in [
        (1, Ok("None")),
        (2, Ok("Some(Cancelled)")),
        (3, Ok("None")),
        (4, Ok("None")),
        (5, Ok("Completed")),
        (6, Err(ErrorKind::Misuse)),
        (7, Ok("Parked")),
        (9, Err(ErrorKind::Fenced)),
    ] {
        same(&results[number], &wanted.map(str::to_owned))?;
    }
    same(results[8].is_ok() && results[10].is_ok(), true)?;
    let mut seen = Vec::new();
    for number in 1..=9 {
        seen.push(subject.seen(number).await?.summary.status);
    }
    let mut wanted = [Status::Working; 9];
    wanted[2] = Status::Cancelled;
    wanted[4] = Status::Completed;
    same(seen, wanted.to_vec())
}

async fn calls_about_one_task_are_taken_one_by_one(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    let store = subject.store();
    let appended = |number: u8| {
        let commit = Commit::of([entry(&format!("step-{number}"), "done")]);
        verdict(store.append(lease, commit))
    };
    let mut calls: Vec<_> = (0..8).map(appended).collect();
    calls.push(verdict(store.renew(lease, LEASE)));
    calls.push(verdict(store.cancel(CALLER, id(1))));
    for result in together(calls).await {
        result?;
    }
    let status = store
        .finish(lease, Outcome::Completed(bytes("late")))
        .await?;
    same(status, Status::Cancelled)?;
    refused(
        store.append(lease, Commit::of([entry("more", "x")])).await,
        ErrorKind::Fenced,
    )
}

async fn creations_at_once_keep_to_the_quota(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let create = |number: u8| {
        let mut task = new_task(number);
        task.quota = Some(4);
        // Every third has another owner.
        if number.is_multiple_of(3) {
            task.principal = STRANGER;
        }
        subject.store().create(task)
    };
    let results = together((1..=12).map(create).collect()).await;
    let mut created = [0; 2];
    for (number, result) in (1_u8..=12).zip(results) {
        let owner = usize::from(number.is_multiple_of(3));
        match result {
            Ok(_) => created[owner] += 1,
            result => refused(result, ErrorKind::Quota)?,
        }
    }
    same(created, [4, 4])
}
