use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

use super::*;
use crate::contract::{self, Faulty, Subject};
use crate::{ErrorKind, FlowId, Name, Store, Wakeup};

#[tokio::test]
async fn the_memory_store_keeps_the_contract() {
    let report = contract::store(|| Box::pin(async { Ok(subject()) })).await;
    assert!(report.is_kept(), "{report}");
    assert!(report.kept().len() > 100, "{report}");
}

#[tokio::test]
async fn a_full_store_takes_no_more_tasks() {
    let limits = MemoryLimits {
        tasks: 2,
        ..MemoryLimits::default()
    };
    let store = MemoryStore::with_clock(limits, || UnixMillis::new(0));
    store.create(task(1)).await.unwrap();
    store.create(task(2)).await.unwrap();
    let refused = store.create(task(3)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Full);
    store.create(task(2)).await.unwrap();
}

#[tokio::test]
async fn a_full_store_forgets_what_has_expired_and_nothing_else() {
    let time = Arc::new(AtomicI64::new(0));
    let clock = Arc::clone(&time);
    let limits = MemoryLimits {
        bytes: 10_000,
        ..MemoryLimits::default()
    };
    let store = MemoryStore::with_clock(limits, move || {
        UnixMillis::new(clock.load(Ordering::Relaxed))
    });
    store.create(task(1)).await.unwrap();
    let lease = claim(&store).await;
    put(&store, 1, 4000).await.unwrap();
    put(&store, 2, 4000).await.unwrap();
    assert_eq!(
        put(&store, 3, 4000).await.unwrap_err().kind(),
        ErrorKind::Full
    );
    let big = Outcome::Completed(vec![0; 4000].into());
    let refused = store.finish(lease, big.clone()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Full);
    let status = store.read(task(1).principal, lease.task).await.unwrap();
    assert_eq!(status.unwrap().summary.status, Status::Working);
    time.store(HOUR_MILLIS, Ordering::Relaxed);
    assert_eq!(store.finish(lease, big).await.unwrap(), Status::Completed);
    put(&store, 3, 4000).await.unwrap();
}

#[tokio::test]
async fn everything_that_is_deleted_makes_room_again() {
    let time = Arc::new(AtomicI64::new(0));
    let clock = Arc::clone(&time);
    let store = MemoryStore::with_clock(MemoryLimits::default(), move || {
        UnixMillis::new(clock.load(Ordering::Relaxed))
    });
    let empty = store.lock().clone();
    let hour = Duration::from_secs(3600);
    let claimant = Claimant::from_bytes([1; 16]);
    for round in 0..3 {
        let mut new = task(1);
        new.ttl = Some(hour);
        store.create(new).await.unwrap();
        let lease = claim(&store).await;
        let done = Outcome::Completed("done".into());
        store.finish(lease, done).await.unwrap();
        let effect = Effect::new(FlowId::from_bytes([1; 16]), name("charge"));
        store
            .claim_once(effect.clone(), EffectClaim::new(claimant, hour))
            .await
            .unwrap();
        store
            .settle_once(effect, claimant, "receipt".into())
            .await
            .unwrap();
        let turn = Round::new(FlowId::from_bytes([1; 16]), round);
        let entry = RoundEntry::new([0; 32], claimant, hour);
        store.enter_round(turn, entry).await.unwrap();
        store
            .complete_round(turn, claimant, "response".into())
            .await
            .unwrap();
        put(&store, 1, 100).await.unwrap();
        time.fetch_add(HOUR_MILLIS * 2, Ordering::Relaxed);
        store.sweep_tasks(Sweep::new(Bytes::new())).await.unwrap();
        store.sweep_ledger(10).await.unwrap();
        store.sweep_blobs(10).await.unwrap();
        assert_eq!(*store.lock(), empty);
    }
}

#[test]
fn threads_share_a_store() {
    let store = MemoryStore::with_clock(MemoryLimits::default(), || UnixMillis::new(0));
    run(async {
        for number in 0..200 {
            store.create(task(number)).await.unwrap();
        }
    });
    let claimed: usize = thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut claimed = 0;
                    run(async {
                        while !store.claim(wish()).await.unwrap().is_empty() {
                            claimed += 1;
                        }
                    });
                    claimed
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum()
    });
    assert_eq!(claimed, 200);
}

#[tokio::test]
async fn answers_and_cancels_ring_the_bell() {
    let store = MemoryStore::with_clock(MemoryLimits::default(), || UnixMillis::new(0));
    let mut wakeups = store.wakeups();
    store.create(task(1)).await.unwrap();
    let principal = task(1).principal;
    store
        .answer(principal, task(1).id, Vec::new())
        .await
        .unwrap();
    store.cancel(principal, task(1).id).await.unwrap();
    assert_eq!(wakeups.next().await, Wakeup::Task(task(1).id));
}

#[tokio::test]
async fn a_posted_blob_rings_the_bell_and_one_that_is_put_does_not() {
    let store = || MemoryStore::with_clock(MemoryLimits::default(), || UnixMillis::new(0));
    rings_for_what_is_posted(&store()).await;
    // Nor is a wakeups lost in the store that breaks rules on purpose.
    rings_for_what_is_posted(&Faulty::new(Arc::new(store()), None)).await;
}

async fn rings_for_what_is_posted(store: &dyn Store) {
    let mut wakeups = store.wakeups();
    let id = |number| BlobId::from_bytes([number; 16]);
    let hour = Duration::from_secs(3600);
    store.put_blob(id(1), "a".into(), hour).await.unwrap();
    store.post_blob(id(2), "b".into(), hour).await.unwrap();
    // A sender that was dropped wakes no listener.
    let rung = tokio::select! {
        biased;
        rung = wakeups.next() => Some(rung),
        () = std::future::ready(()) => None,
    };
    assert_eq!(rung, Some(Wakeup::Blob(id(2))));
}

fn run(future: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(future);
}

const HOUR_MILLIS: i64 = 3_600_000;

fn subject() -> Subject<dyn Store> {
    let time = Arc::new(AtomicI64::new(1_700_000_000_000));
    let clock = Arc::clone(&time);
    let now = move || UnixMillis::new(clock.load(Ordering::Relaxed));
    let store: Arc<dyn Store> = Arc::new(MemoryStore::with_clock(MemoryLimits::default(), now));
    Subject::new(store, move |by| {
        time.fetch_add(UnixMillis::span(by), Ordering::Relaxed);
        Box::pin(async { Ok(()) })
    })
}

fn task(number: u8) -> NewTask {
    NewTask::new(
        TaskId::from_bytes([number; 16]),
        Owner::from_digest([1; 32]),
        FlowId::from_bytes([number; 16]),
        name("tool"),
        Bytes::new(),
    )
}

fn wish() -> Claim {
    Claim::new(name("worker"), Duration::from_secs(30))
}

async fn claim(store: &MemoryStore) -> Lease {
    store.claim(wish()).await.unwrap().pop().unwrap().lease
}

async fn put(store: &MemoryStore, number: u8, size: usize) -> Result<(), Error> {
    let value = vec![number; size].into();
    let id = BlobId::from_bytes([number; 16]);
    store.put_blob(id, value, Duration::from_secs(3600)).await
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "a test of the clock has another one"
)]
async fn a_store_on_the_clock_of_the_machine_forgets_in_time() {
    let store = MemoryStore::new();
    let id = BlobId::from_bytes([1; 16]);
    let short = Duration::from_millis(20);
    store.put_blob(id, "plan".into(), short).await.unwrap();
    let begun = Instant::now();
    // A clock that stands still would keep it for ever.
    while store.blob(id).await.unwrap().is_some() {
        assert!(begun.elapsed() < Duration::from_secs(10), "still there");
        tokio::task::yield_now().await;
    }
    assert!(begun.elapsed() >= short / 2, "gone too early");
}
