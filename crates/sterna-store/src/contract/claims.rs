//! Workers find work.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::Subject;
use super::case::{Broken, cases, same};
use super::fixture::{
    CALLER, HOUR, LEASE, MINUTE, STRANGER, bytes, claim, entry, id, name, new_task, together,
};
use crate::{BoxFuture, Commit, Error, Outcome, Owner, Status, Targets, TaskUpdate, Tasks};

cases! { dyn Tasks:
    concurrent_claims_never_share_a_task,
    a_claim_takes_no_more_than_its_limit,
    a_claim_takes_only_the_targets_it_names,
    the_longest_waiting_task_goes_first,
    owners_are_given_workers_in_turn,
    a_worker_is_not_given_what_it_has_in_hand,
    a_call_that_is_not_polled_keeps_no_other_waiting,
    a_commit_takes_less_than_a_second,
    a_held_task_is_not_given_away,
    an_expired_lease_is_taken_over,
    a_takeover_has_one_winner,
    a_renewed_lease_lasts_from_the_renewal,
    attempts_count_until_there_is_progress,
    a_poison_task_can_be_failed_instead_of_run,
}

async fn concurrent_claims_never_share_a_task(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let store = subject.store();
    for number in 0..40 {
        store.create(new_task(number)).await?;
    }
    let mut all = Vec::new();
    for _ in 0..4 {
        for claimed in together((0..8).map(|_| store.claim(claim(3))).collect()).await {
            all.extend(claimed?.into_iter().map(|claimed| claimed.lease.task));
        }
    }
    same(all.len(), 40)?;
    same(
        all.into_iter().collect::<BTreeSet<_>>(),
        (0..40).map(id).collect(),
    )
}

async fn a_claim_takes_no_more_than_its_limit(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    for number in 0..5 {
        subject.store().create(new_task(number)).await?;
    }
    same(subject.store().claim(claim(0)).await?.len(), 0)?;
    same(subject.store().claim(claim(3)).await?.len(), 3)?;
    same(subject.store().claim(claim(3)).await?.len(), 2)
}

async fn a_claim_takes_only_the_targets_it_names(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let store = subject.store();
    for (number, target) in [(1, "old"), (2, "new"), (3, "old")] {
        let mut new = new_task(number);
        new.target = name(target);
        store.create(new).await?;
    }
    let only = |targets: &[&str]| {
        let mut claim = claim(10);
        claim.targets = Targets::Only(targets.iter().map(|target| name(target)).collect());
        claim
    };
    same(store.claim(only(&[])).await?.len(), 0)?;
    same(store.claim(only(&["OLD", "ol"])).await?.len(), 0)?;
    let old = store.claim(only(&["old", "older"])).await?;
    let old: BTreeSet<_> = old.iter().map(|claimed| claimed.lease.task).collect();
    same(old, [id(1), id(3)].into())?;
    subject.claimed(2).await?;
    Ok(())
}

async fn the_longest_waiting_task_goes_first(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    for number in [3, 1, 2] {
        subject.store().create(new_task(number)).await?;
        subject.advance(MINUTE).await?;
    }
    let claimed = subject.store().claim(claim(2)).await?;
    let order: Vec<_> = claimed.iter().map(|claimed| claimed.lease.task).collect();
    same(order, vec![id(3), id(1)])
}

async fn owners_are_given_workers_in_turn(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let store = subject.store();
    // More than any window in which a store may look for them.
    for number in 0..200 {
        store.create(new_task(number)).await?;
    }
    subject.advance(MINUTE).await?;
    let third = Owner::from_digest([0x99; 32]);
    for (number, owner) in [(201, STRANGER), (202, STRANGER), (203, third)] {
        let mut new = new_task(number);
        new.principal = owner;
        store.create(new).await?;
    }
    // One at a time, as a worker asks that has one free hand, and all at once.
    let mut after = None;
    let mut owners = Vec::new();
    for limit in [1, 1, 1, 1, 3] {
        let mut claim = claim(limit);
        claim.after = after;
        let claimed = store.claim(claim).await?;
        after = claimed.last().map(|claimed| claimed.owner);
        owners.extend(claimed.into_iter().map(|claimed| claimed.owner));
    }
    same(owners.len(), 7)?;
    let turns = [STRANGER, third, CALLER];
    for owners in owners.windows(3).take(2) {
        same(
            owners.iter().collect::<BTreeSet<_>>(),
            turns.iter().collect(),
        )?;
    }
    same(owners.iter().filter(|owner| **owner == STRANGER).count(), 2)?;
    same(owners.iter().filter(|owner| **owner == third).count(), 1)
}

async fn a_worker_is_not_given_what_it_has_in_hand(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let store = subject.store();
    let lease = subject.held(1).await?;
    // The store's clock was set forward, or the worker was stopped for a while.
    subject.advance(LEASE * 2).await?;
    let mut own = claim(10);
    own.held = vec![id(1)];
    same(store.claim(own).await?, Vec::new())?;
    store.renew(lease, LEASE).await?;
    subject.idle().await
}

async fn a_call_that_is_not_polled_keeps_no_other_waiting(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let store = subject.store();
    for number in 1..=8 {
        let lease = subject.held(number).await?;
        let mut parked = store.append(lease, Commit::of([entry("plan", "A")]));
        let mut ended = None;
        for _ in 0..number {
            if ended.is_none() {
                ended = poll_once(&mut parked).await;
            }
            soon(store.read(STRANGER, id(number))).await?;
        }
        // The worker is in the middle of its commit and has to renew.
        soon(store.renew(lease, LEASE)).await?;
        let news = match ended {
            Some(news) => news,
            None => parked.await,
        };
        same(news?.status, Status::Working)?;
    }
    Ok(())
}

async fn poll_once(
    call: &mut BoxFuture<'_, Result<TaskUpdate, Error>>,
) -> Option<Result<TaskUpdate, Error>> {
    poll_fn(|cx| match call.as_mut().poll(cx) {
        Poll::Ready(result) => Poll::Ready(Some(result)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Fails if a call takes more than five seconds.
async fn soon<T>(call: BoxFuture<'_, Result<T, Error>>) -> Result<T, Broken> {
    let ended = timeout(Duration::from_secs(5), call).await;
    let ended = ended.map_err(|_| Broken::new("a call waits for one that is not polled"))?;
    Ok(ended?)
}

async fn a_commit_takes_less_than_a_second(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    for number in 0..60 {
        let commit = Commit::of([entry(&format!("step {number}"), "done")]);
        let since = Instant::now();
        subject.store().append(lease, commit).await?;
        let took = since.elapsed();
        if took > Duration::from_secs(1) {
            return Err(Broken::new(format!("commit {number} took {took:?}")));
        }
    }
    Ok(())
}

async fn a_held_task_is_not_given_away(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    subject.held(1).await?;
    subject.idle().await?;
    subject.advance(LEASE / 2).await?;
    subject.idle().await
}

async fn an_expired_lease_is_taken_over(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let first = subject.held(1).await?;
    let commit = Commit::of([entry("plan", "A")]);
    subject.store().append(first, commit).await?;
    subject.advance(LEASE * 2).await?;
    let second = subject.claimed(1).await?;
    same(second.lease.fence > first.fence, true)?;
    same(second.journal, vec![entry("plan", "A")])
}

async fn a_takeover_has_one_winner(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    subject.held(1).await?;
    subject.advance(LEASE * 2).await?;
    let store = subject.store();
    let claims = together((0..8).map(|_| store.claim(claim(1))).collect()).await;
    let mut winners = 0;
    for claimed in claims {
        winners += claimed?.len();
    }
    same(winners, 1)
}

async fn a_renewed_lease_lasts_from_the_renewal(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let lease = subject.held(1).await?;
    subject.advance(LEASE / 2).await?;
    subject.store().renew(lease, HOUR).await?;
    subject.advance(LEASE).await?;
    subject.idle().await?;
    subject.advance(HOUR).await?;
    subject.claimed(1).await?;
    Ok(())
}

async fn attempts_count_until_there_is_progress(subject: Subject<dyn Tasks>) -> Result<(), Broken> {
    let mut lease = subject.held(1).await?;
    for attempt in 2..5 {
        subject.advance(LEASE * 2).await?;
        let claimed = subject.claimed(1).await?;
        same(claimed.attempt, attempt)?;
        lease = claimed.lease;
    }
    let commit = Commit::of([entry("plan", "A")]);
    subject.store().append(lease, commit).await?;
    subject.advance(LEASE * 2).await?;
    same(subject.claimed(1).await?.attempt, 1)
}

async fn a_poison_task_can_be_failed_instead_of_run(
    subject: Subject<dyn Tasks>,
) -> Result<(), Broken> {
    let mut lease = subject.held(1).await?;
    for _ in 0..3 {
        subject.advance(LEASE * 2).await?;
        lease = subject.claimed(1).await?.lease;
    }
    let poison = Outcome::Failed(bytes("poison"));
    let status = subject.store().finish(lease, poison.clone()).await?;
    same(status, Status::Failed)?;
    same(subject.seen(1).await?.outcome, Some(poison))?;
    subject.advance(LEASE * 2).await?;
    subject.idle().await
}
