//! A store that counts how often a task is read whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use sterna_store::{
    Answer, Answered, BlobId, Blobs, BoxFuture, Claim, Claimant, Claimed, Commit, Effect,
    EffectClaim, Error, Lease, Ledger, Listing, NewTask, OnceClaim, Outcome, Owner, Page,
    Passivated, Passivation, Round, RoundClaim, RoundEntry, Status, Store, Summary, Sweep, Swept,
    Task, TaskId, TaskUpdate, Tasks, Wakeups,
};

pub(super) struct Counted {
    pub(super) store: Arc<dyn Store>,
    pub(super) reads: Arc<AtomicUsize>,
}

/// Hands methods on to the store within.
macro_rules! hands_on {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        fn $name(&self, $($argument: $type),*) -> BoxFuture<'_, Result<$result, Error>> {
            self.store.$name($($argument),*)
        }
    )*};
}

impl Tasks for Counted {
    fn read(&self, caller: Owner, task: TaskId) -> BoxFuture<'_, Result<Option<Task>, Error>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.store.read(caller, task)
    }

    fn wakeups(&self) -> Wakeups {
        self.store.wakeups()
    }

    hands_on! {
        create(task: NewTask) -> Summary;
        list(caller: Owner, page: Page) -> Listing;
        answer(caller: Owner, task: TaskId, answers: Vec<Answer>) -> Option<Answered>;
        cancel(caller: Owner, task: TaskId) -> Option<Status>;
        claim(claim: Claim) -> Vec<Claimed>;
        renew(lease: Lease, length: Duration) -> TaskUpdate;
        append(lease: Lease, commit: Commit) -> TaskUpdate;
        passivate(lease: Lease, commit: Commit, rest: Passivation) -> Passivated;
        finish(lease: Lease, outcome: Outcome) -> Status;
        sweep_tasks(sweep: Sweep) -> Swept;
    }
}

impl Ledger for Counted {
    hands_on! {
        claim_once(effect: Effect, claim: EffectClaim) -> OnceClaim;
        settle_once(effect: Effect, claimant: Claimant, result: Bytes) -> ();
        enter_round(round: Round, entry: RoundEntry) -> RoundClaim;
        complete_round(round: Round, claimant: Claimant, response: Bytes) -> ();
        sweep_ledger(limit: u32) -> u32;
    }
}

impl Blobs for Counted {
    hands_on! {
        put_blob(id: BlobId, value: Bytes, ttl: Duration) -> ();
        post_blob(id: BlobId, value: Bytes, ttl: Duration) -> ();
        blob(id: BlobId) -> Option<Bytes>;
        sweep_blobs(limit: u32) -> u32;
    }
}
