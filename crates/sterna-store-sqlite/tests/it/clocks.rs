//! The effects of setting the machine's clock.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use sterna_store::{
    Claim, Claimant, ErrorKind, FlowId, Ledger, Name, NewTask, Owner, Round, RoundClaim,
    RoundEntry, TaskId, Tasks, UnixMillis,
};
use sterna_store_sqlite::{Config, SqliteStore};

const LEASE: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_secs(120);

/// The clocks of a machine, for all of its processes.
#[derive(Clone, Default)]
struct Machine {
    wall: Arc<AtomicI64>,
    steady: Arc<AtomicU64>,
}

impl Machine {
    /// A process that opens the file.
    fn open(&self, path: &Path) -> SqliteStore {
        let Self { wall, steady } = self.clone();
        SqliteStore::open_by_clocks(
            path,
            Config::default(),
            move || UnixMillis::new(1_785_231_000_000 + wall.load(Ordering::SeqCst)),
            move || Duration::from_millis(steady.load(Ordering::SeqCst)),
        )
        .unwrap()
    }

    /// Lets time pass.
    fn pass(&self, time: Duration) {
        self.set_forward(time);
        let millis = u64::try_from(time.as_millis()).unwrap();
        self.steady.fetch_add(millis, Ordering::SeqCst);
    }

    /// Sets the clock forward.
    fn set_forward(&self, time: Duration) {
        self.wall
            .fetch_add(UnixMillis::span(time), Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_clock_that_is_set_forward_takes_no_task_from_a_worker_that_lives() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let machine = Machine::default();
    let (ours, theirs) = (machine.open(&path), machine.open(&path));
    ours.create(task()).await.unwrap();
    let lease = ours.claim(worker()).await.unwrap().remove(0).lease;
    machine.pass(LEASE / 3);
    machine.set_forward(STEP);
    assert_eq!(theirs.claim(worker()).await.unwrap(), []);
    assert_eq!(ours.claim(worker()).await.unwrap(), []);
    // The worker renews three times in a lease; the machine's clock has no effect on
    // that.
    for _ in 0..6 {
        ours.renew(lease, LEASE).await.unwrap();
        machine.pass(LEASE / 3);
        assert_eq!(theirs.claim(worker()).await.unwrap(), []);
    }
    // If it dies, its task is taken over as ever.
    machine.pass(LEASE);
    let taken = theirs.claim(worker()).await.unwrap().remove(0);
    assert_eq!(taken.attempt, 2);
    let lost = ours.renew(lease, LEASE).await.unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::Fenced);
}

#[tokio::test]
async fn a_dead_worker_loses_its_task_also_when_the_clock_was_set_forward() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let machine = Machine::default();
    let store = machine.open(&path);
    store.create(task()).await.unwrap();
    store.claim(worker()).await.unwrap().remove(0);
    machine.set_forward(STEP);
    assert_eq!(store.claim(worker()).await.unwrap(), []);
    machine.pass(LEASE);
    assert_eq!(store.claim(worker()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_clock_that_is_set_forward_gives_no_other_claimant_a_round_that_is_being_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let machine = Machine::default();
    let store = machine.open(&path);
    let round = Round::new(FlowId::from_bytes([1; 16]), 1);
    let entry = |who| {
        let claimant = Claimant::from_bytes([who; 16]);
        let mut entry = RoundEntry::new([7; 32], claimant, Duration::from_secs(3600));
        entry.length = LEASE;
        entry
    };
    let entered = store.enter_round(round, entry(1)).await.unwrap();
    assert_eq!(entered, RoundClaim::Yours);
    machine.set_forward(STEP);
    let entered = store.enter_round(round, entry(2)).await.unwrap();
    assert!(matches!(entered, RoundClaim::Busy { .. }), "{entered:?}");
    let renewed = store.enter_round(round, entry(1)).await.unwrap();
    assert_eq!(renewed, RoundClaim::Yours);
    machine.pass(LEASE);
    let entered = store.enter_round(round, entry(2)).await.unwrap();
    assert_eq!(entered, RoundClaim::Yours);
}

#[tokio::test]
async fn timers_go_by_the_clock_that_was_set() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let machine = Machine::default();
    let store = machine.open(&path);
    store.create(task()).await.unwrap();
    let lease = store.claim(worker()).await.unwrap().remove(0).lease;
    let rest = sterna_store::Passivation::For(STEP);
    let commit = sterna_store::Commit::default();
    store.passivate(lease, commit, rest).await.unwrap();
    machine.set_forward(STEP);
    assert_eq!(store.claim(worker()).await.unwrap().len(), 1);
}

fn task() -> NewTask {
    let (id, flow) = (TaskId::from_bytes([1; 16]), FlowId::from_bytes([1; 16]));
    let owner = Owner::from_digest([1; 32]);
    NewTask::new(id, owner, flow, Name::new("tool").unwrap(), Bytes::new())
}

fn worker() -> Claim {
    Claim::new(Name::new("worker").unwrap(), LEASE)
}
