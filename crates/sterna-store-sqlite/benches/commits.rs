//! What a task costs, beside the bare cost of the same commits.
//!
//! `cargo bench -p sterna-store-sqlite` prints commits per second on the disk
//! of the temporary folder.

#![expect(clippy::print_stdout, reason = "reports to the reader")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rusqlite::Connection;
use sterna_store::{
    Claim, Commit, Entry, FlowId, Lease, Name, NewTask, Outcome, Principal, TaskId, Tasks,
};
use sterna_store_sqlite::{Config, SqliteStore};
use tokio::task::JoinSet;

const TASKS: u64 = 2000;
const VALUE: Bytes = Bytes::from_static(&[0x61; 500]);

#[tokio::main]
async fn main() {
    println!(
        "{:<44} {:>12}",
        "500-byte values, one SQLite file", "per second"
    );
    bare("bare commit, synchronous = NORMAL", "NORMAL");
    bare("bare commit, synchronous = FULL", "FULL");
    for callers in [1, 32] {
        store(callers).await;
    }
}

/// One row per transaction, and nothing else.
fn bare(what: &str, synchronous: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let connection = Connection::open(folder.path().join("bare.db")).expect("a database");
    connection
        .execute_batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};
             CREATE TABLE t (id INTEGER PRIMARY KEY, value BLOB) STRICT"
        ))
        .expect("a table");
    let mut statement = connection
        .prepare("INSERT INTO t (value) VALUES (?1)")
        .expect("a statement");
    let started = now();
    for _ in 0..TASKS {
        statement.execute([&VALUE[..]]).expect("a row");
    }
    report(what, started);
}

async fn store(callers: u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("store.db");
    let store = SqliteStore::open(path, Config::default()).expect("a store");
    let store = Arc::new(store);

    let started = now();
    each(callers, &store, |store, number| async move {
        store.create(task(number)).await.expect("a task");
    })
    .await;
    report(&format!("create (FULL), {callers} at once"), started);

    let started = now();
    let leases = Arc::new(claim_all(&store).await);
    report("claim (NORMAL), 10 at a time", started);

    let started = now();
    let held = Arc::clone(&leases);
    each(callers, &store, move |store, number| {
        let lease = held[usize::try_from(number).expect("small")];
        async move {
            let commit = Commit::of([Entry::new(name("step"), VALUE)]);
            store.append(lease, commit).await.expect("an entry");
        }
    })
    .await;
    report(&format!("append (NORMAL), {callers} at once"), started);

    let started = now();
    each(callers, &store, move |store, number| {
        let lease = leases[usize::try_from(number).expect("small")];
        async move {
            let done = Outcome::Completed(VALUE);
            store.finish(lease, done).await.expect("an end");
        }
    })
    .await;
    report(&format!("finish (FULL), {callers} at once"), started);
}

async fn claim_all(store: &SqliteStore) -> Vec<Lease> {
    let mut wish = Claim::new(name("bench"), Duration::from_secs(3600));
    wish.limit = 10;
    let mut leases = Vec::new();
    loop {
        let claimed = store.claim(wish.clone()).await.expect("claims");
        if claimed.is_empty() {
            return leases;
        }
        leases.extend(claimed.into_iter().map(|claimed| claimed.lease));
    }
}

/// Does `work` for every task, `callers` at a time.
async fn each<F: Future<Output = ()> + Send + 'static>(
    callers: u64,
    store: &Arc<SqliteStore>,
    work: impl Fn(Arc<SqliteStore>, u64) -> F + Clone + Send + 'static,
) {
    let mut set = JoinSet::new();
    for caller in 0..callers {
        let (store, work) = (Arc::clone(store), work.clone());
        set.spawn(async move {
            for number in (caller..TASKS).step_by(usize::try_from(callers).expect("few")) {
                work(Arc::clone(&store), number).await;
            }
        });
    }
    set.join_all().await;
}

fn task(number: u64) -> NewTask {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    let principal = Principal::from_digest([1; 32]);
    let flow = FlowId::from_bytes(bytes);
    NewTask::new(
        TaskId::from_bytes(bytes),
        principal,
        flow,
        name("bench"),
        VALUE,
    )
}

fn name(text: &str) -> Name {
    Name::new(text).expect("a short name")
}

fn report(what: &str, started: Instant) {
    let rate = f64::from(u32::try_from(TASKS).expect("few")) / started.elapsed().as_secs_f64();
    println!("{what:<44} {rate:>12.0}");
}

#[expect(clippy::disallowed_methods, reason = "measures for the reader")]
fn now() -> Instant {
    Instant::now()
}
