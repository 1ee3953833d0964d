//! The store behind all replicas of a run, which takes its time.
//!
//! Every call lets others run before and after it, so that a replica can die
//! between a step and its commit, or between an effect and its entry in the
//! ledger.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use sterna_store::{
    Answer, Answered, BlobId, Blobs, BoxFuture, Claim, Claimant, Claimed, Commit, Effect,
    EffectClaim, Error, Lease, Ledger, Listing, MemoryLimits, MemoryStore, NewTask, OnceClaim,
    Outcome, Owner, Page, Passivated, Passivation, Round, RoundClaim, RoundEntry, Status, Summary,
    Sweep, Swept, Task, TaskId, TaskUpdate, Tasks, Wakeups,
};
use tokio::task::yield_now;

use crate::clock::Clock;

pub(crate) struct Backstage {
    store: MemoryStore,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// The tasks that a worker has in hand.
    leased: BTreeSet<TaskId>,
    /// Effects that were begun and have no recorded end.
    ambiguous: Vec<String>,
}

impl Backstage {
    pub(crate) fn new(clock: &Clock) -> Self {
        let clock = clock.clone();
        Self {
            store: MemoryStore::with_clock(MemoryLimits::default(), move || clock.millis()),
            seen: Mutex::default(),
        }
    }

    /// Returns whether a worker holds a task.
    pub(crate) fn is_worked_on(&self) -> bool {
        !self.seen().leased.is_empty()
    }

    /// Every worker is dead.
    pub(crate) fn bury_workers(&self) {
        self.seen().leased.clear();
    }

    /// The effects that a flow was told are in doubt.
    pub(crate) fn ambiguous(&self) -> Vec<String> {
        self.seen().ambiguous.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn slowly<'a, T: Send + 'a>(call: BoxFuture<'a, T>) -> BoxFuture<'a, T> {
    Box::pin(async move {
        yield_now().await;
        let result = call.await;
        yield_now().await;
        result
    })
}

impl Tasks for Backstage {
    fn create(&self, task: NewTask) -> BoxFuture<'_, Result<Summary, Error>> {
        slowly(self.store.create(task))
    }

    fn read(&self, caller: Owner, task: TaskId) -> BoxFuture<'_, Result<Option<Task>, Error>> {
        self.store.read(caller, task)
    }

    fn list(&self, caller: Owner, page: Page) -> BoxFuture<'_, Result<Listing, Error>> {
        self.store.list(caller, page)
    }

    fn answer(
        &self,
        caller: Owner,
        task: TaskId,
        answers: Vec<Answer>,
    ) -> BoxFuture<'_, Result<Option<Answered>, Error>> {
        self.store.answer(caller, task, answers)
    }

    fn cancel(&self, caller: Owner, task: TaskId) -> BoxFuture<'_, Result<Option<Status>, Error>> {
        self.store.cancel(caller, task)
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        Box::pin(async move {
            let claimed = self.store.claim(claim).await?;
            let tasks = claimed.iter().map(|claimed| claimed.lease.task);
            self.seen().leased.extend(tasks);
            Ok(claimed)
        })
    }

    fn renew(&self, lease: Lease, length: Duration) -> BoxFuture<'_, Result<TaskUpdate, Error>> {
        slowly(self.store.renew(lease, length))
    }

    fn append(&self, lease: Lease, commit: Commit) -> BoxFuture<'_, Result<TaskUpdate, Error>> {
        slowly(self.store.append(lease, commit))
    }

    fn passivate(
        &self,
        lease: Lease,
        commit: Commit,
        rest: Passivation,
    ) -> BoxFuture<'_, Result<Passivated, Error>> {
        slowly(Box::pin(async move {
            let rested = self.store.passivate(lease, commit, rest).await?;
            if !matches!(rested, Passivated::Refused(_)) {
                self.seen().leased.remove(&lease.task);
            }
            Ok(rested)
        }))
    }

    fn finish(&self, lease: Lease, outcome: Outcome) -> BoxFuture<'_, Result<Status, Error>> {
        slowly(Box::pin(async move {
            let status = self.store.finish(lease, outcome).await?;
            self.seen().leased.remove(&lease.task);
            Ok(status)
        }))
    }

    fn sweep_tasks(&self, sweep: Sweep) -> BoxFuture<'_, Result<Swept, Error>> {
        self.store.sweep_tasks(sweep)
    }

    fn wakeups(&self) -> Wakeups {
        self.store.wakeups()
    }
}

impl Ledger for Backstage {
    fn claim_once(
        &self,
        effect: Effect,
        claim: EffectClaim,
    ) -> BoxFuture<'_, Result<OnceClaim, Error>> {
        slowly(Box::pin(async move {
            let key = effect.key.as_str().to_owned();
            let claim = self.store.claim_once(effect, claim).await?;
            if matches!(claim, OnceClaim::Ambiguous { .. }) {
                self.seen().ambiguous.push(key);
            }
            Ok(claim)
        }))
    }

    fn settle_once(
        &self,
        effect: Effect,
        claimant: Claimant,
        result: Bytes,
    ) -> BoxFuture<'_, Result<(), Error>> {
        slowly(self.store.settle_once(effect, claimant, result))
    }

    fn enter_round(
        &self,
        round: Round,
        entry: RoundEntry,
    ) -> BoxFuture<'_, Result<RoundClaim, Error>> {
        slowly(self.store.enter_round(round, entry))
    }

    fn complete_round(
        &self,
        round: Round,
        claimant: Claimant,
        response: Bytes,
    ) -> BoxFuture<'_, Result<(), Error>> {
        slowly(self.store.complete_round(round, claimant, response))
    }

    fn sweep_ledger(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        self.store.sweep_ledger(limit)
    }
}

impl Blobs for Backstage {
    fn put_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        slowly(self.store.put_blob(id, value, ttl))
    }

    fn post_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        slowly(self.store.post_blob(id, value, ttl))
    }

    fn blob(&self, id: BlobId) -> BoxFuture<'_, Result<Option<Bytes>, Error>> {
        self.store.blob(id)
    }

    fn sweep_blobs(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        self.store.sweep_blobs(limit)
    }
}

#[cfg(test)]
mod tests {
    use sterna_store::Wakeup;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_posted_rings_backstage_too() {
        let store = Backstage::new(&Clock::new());
        let mut wakeups = store.wakeups();
        let id = BlobId::from_bytes([1; 16]);
        let minute = Duration::from_secs(60);
        store.post_blob(id, "a".into(), minute).await.unwrap();
        let rung = tokio::time::timeout(minute, wakeups.next()).await;
        assert_eq!(rung, Ok(Wakeup::Blob(id)));
    }
}
