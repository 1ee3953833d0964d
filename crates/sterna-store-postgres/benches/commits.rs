//! What a task costs, beside the bare cost of the same commits.
//!
//! `cargo bench -p sterna-store-postgres` starts a PostgreSQL of its own, with
//! its usual durability, and prints commits per second.

#![expect(clippy::print_stdout, reason = "reports to the reader")]

#[path = "../tests/it/server.rs"]
#[expect(
    dead_code,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "it belongs to the tests"
)]
mod server;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sterna_store::{
    Claim, Commit, Entry, FlowId, Lease, Name, NewTask, Outcome, Principal, TaskId, Tasks,
};
use sterna_store_postgres::PostgresStore;
use tokio::task::JoinSet;

use server::Server;

const TASKS: u64 = 2000;
const VALUE: Bytes = Bytes::from_static(&[0x61; 500]);

#[tokio::main]
async fn main() {
    let Some(server) = Server::start_with("fsync = on") else {
        return;
    };
    println!("{:<44} {:>12}", "500-byte values, PostgreSQL", "per second");
    let client = server.client().await;
    let table = "CREATE TABLE bare (id bigserial PRIMARY KEY, value bytea)";
    client.batch_execute(table).await.expect("a table");
    for callers in [1, 8] {
        bare(&server, callers).await;
    }
    for callers in [1, 8, 32] {
        store(&server, callers).await;
    }
}

/// One row per transaction, and nothing else.
async fn bare(server: &Server, callers: u64) {
    let mut clients = Vec::new();
    for _ in 0..callers {
        clients.push(server.client().await);
    }
    let started = now();
    let mut set = JoinSet::new();
    for client in clients {
        set.spawn(async move {
            let insert = client.prepare("INSERT INTO bare (value) VALUES ($1)").await;
            let insert = insert.expect("a statement");
            for _ in 0..TASKS / callers {
                client
                    .execute(&insert, &[&&VALUE[..]])
                    .await
                    .expect("a row");
            }
        });
    }
    set.join_all().await;
    report(&format!("bare commit, {callers} at once"), started);
}

async fn store(server: &Server, callers: u64) {
    let mut config = server.config();
    config.connections = 8;
    config.wait = Duration::from_secs(60);
    let store = PostgresStore::connect(config).await.expect("a store");
    let store = Arc::new(store);

    let started = now();
    each(callers, &store, |store, number| async move {
        store.create(task(number)).await.expect("a task");
    })
    .await;
    report(&format!("create, {callers} at once"), started);

    let started = now();
    let leases = Arc::new(claim_all(&store).await);
    report("claim, 10 at a time", started);

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
    report(&format!("append, {callers} at once"), started);

    let started = now();
    each(callers, &store, move |store, number| {
        let lease = leases[usize::try_from(number).expect("small")];
        async move {
            let done = Outcome::Completed(VALUE);
            store.finish(lease, done).await.expect("an end");
        }
    })
    .await;
    report(&format!("finish, {callers} at once"), started);
}

async fn claim_all(store: &PostgresStore) -> Vec<Lease> {
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
    store: &Arc<PostgresStore>,
    work: impl Fn(Arc<PostgresStore>, u64) -> F + Clone + Send + 'static,
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
