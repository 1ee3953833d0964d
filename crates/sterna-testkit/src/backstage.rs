//! The store behind all replicas of a run, which takes its time.
//!
//! Every call lets others run before and after it, so that a replica can die
//! between a step and its commit, or between an effect and its entry in the
//! ledger.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sterna_store::{
    BoxFuture, Claim, Claimed, Commit, Effect, EffectClaim, Error, Intercept, Lease, Ledger,
    MemoryLimits, MemoryStore, OnceClaim, Outcome, Passivated, Passivation, Status, Store, TaskId,
    Tasks,
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

impl Intercept for Backstage {
    fn inner(&self) -> &dyn Store {
        &self.store
    }

    fn around<'a, T: Send + 'a>(
        &'a self,
        method: &'static str,
        call: BoxFuture<'a, T>,
    ) -> BoxFuture<'a, T> {
        if AT_ONCE.contains(&method) {
            return call;
        }
        Box::pin(async move {
            yield_now().await;
            let result = call.await;
            yield_now().await;
            result
        })
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        Box::pin(async move {
            let claimed = self.store.claim(claim).await?;
            let tasks = claimed.iter().map(|claimed| claimed.lease.task);
            self.seen().leased.extend(tasks);
            Ok(claimed)
        })
    }

    fn passivate(
        &self,
        lease: Lease,
        commit: Commit,
        rest: Passivation,
    ) -> BoxFuture<'_, Result<Passivated, Error>> {
        Box::pin(async move {
            let rested = self.store.passivate(lease, commit, rest).await?;
            if !matches!(rested, Passivated::Refused(_)) {
                self.seen().leased.remove(&lease.task);
            }
            Ok(rested)
        })
    }

    fn finish(&self, lease: Lease, outcome: Outcome) -> BoxFuture<'_, Result<Status, Error>> {
        Box::pin(async move {
            let status = self.store.finish(lease, outcome).await?;
            self.seen().leased.remove(&lease.task);
            Ok(status)
        })
    }

    fn claim_once(
        &self,
        effect: Effect,
        claim: EffectClaim,
    ) -> BoxFuture<'_, Result<OnceClaim, Error>> {
        Box::pin(async move {
            let key = effect.key.as_str().to_owned();
            let claim = self.store.claim_once(effect, claim).await?;
            if matches!(claim, OnceClaim::Ambiguous { .. }) {
                self.seen().ambiguous.push(key);
            }
            Ok(claim)
        })
    }
}

/// Calls between which a crash shows nothing new: they write nothing that a
/// replica relies on.
const AT_ONCE: [&str; 9] = [
    "answer",
    "blob",
    "cancel",
    "claim",
    "list",
    "read",
    "sweep_blobs",
    "sweep_ledger",
    "sweep_tasks",
];

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sterna_store::{BlobId, Blobs, Wakeup};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_posted_rings_backstage_too() {
        let store = Backstage::new(&Clock::new());
        let mut wakeups = store.wakeups();
        let id = BlobId::from_bytes([1; 16]);
        let minute = Duration::from_secs(60);
        Blobs::post_blob(&store, id, "a".into(), minute)
            .await
            .unwrap();
        let rung = tokio::time::timeout(minute, wakeups.next()).await;
        assert_eq!(rung, Ok(Wakeup::Blob(id)));
    }
}
