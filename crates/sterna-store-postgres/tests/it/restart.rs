//! The server goes down and comes back in the middle of work.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sterna_store::{
    Claim, Commit, Entry, FlowId, Lease, Name, NewTask, Outcome, Owner, Passivation, Status,
    TaskId, Tasks,
};
use sterna_store_postgres::PostgresStore;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::server::{Server, store};

const CALLER: Owner = Owner::from_digest([1; 32]);
const STEPS: usize = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_goes_on_over_a_restart_of_the_server() {
    let Some(server) = Server::start() else {
        return;
    };
    survives(&server, |server| {
        server.control(&["restart", "-m", "immediate"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_goes_on_over_the_crash_of_a_backend() {
    let Some(server) = Server::start() else {
        return;
    };
    let client = server.client().await;
    let rows = client.query("SELECT pg_backend_pid()", &[]).await.unwrap();
    let pid: i32 = rows[0].get(0);
    survives(&server, move |_| {
        // One killed backend makes the server throw out all the others.
        let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
        assert!(killed.unwrap().success());
    })
    .await;
}

/// Works while `disturb` happens, and insists that nothing is lost or doubled.
async fn survives(server: &Server, disturb: impl FnOnce(&Server)) {
    let mut config = server.config();
    // A server that recovers on a busy machine takes its time.
    config.attempts = 20;
    let store = Arc::new(store(&config).await);
    let flow = FlowId::from_bytes([1; 16]);
    let task = TaskId::from_bytes([1; 16]);
    let new = NewTask::new(task, CALLER, flow, name("tool"), Bytes::new());
    store.create(new).await.unwrap();
    let lease = claim(&store).await.0;

    let (progress, mut seen) = mpsc::channel(STEPS);
    let mut work = JoinSet::new();
    let working = Arc::clone(&store);
    work.spawn(async move {
        for step in 0..STEPS {
            working.append(lease, commit(step)).await.unwrap();
            progress.send(step).await.unwrap();
        }
    });
    while seen.recv().await.unwrap() < STEPS / 4 {}
    disturb(server);
    work.join_next().await.unwrap().unwrap();

    store
        .passivate(lease, Commit::default(), Passivation::HandOver)
        .await
        .unwrap();
    let (lease, journal) = claim(&store).await;
    let wanted: Vec<_> = (0..STEPS).flat_map(|step| commit(step).entries).collect();
    assert_eq!(journal, wanted);
    let done = Outcome::Completed("done".into());
    assert_eq!(store.finish(lease, done).await.unwrap(), Status::Completed);
}

async fn claim(store: &PostgresStore) -> (Lease, Vec<Entry>) {
    let claim = Claim::new(name("worker"), Duration::from_secs(3600));
    let claimed = store.claim(claim).await.unwrap().remove(0);
    (claimed.lease, claimed.journal)
}

fn commit(step: usize) -> Commit {
    Commit::of([Entry::new(
        name(&format!("step {step}")),
        Bytes::from(step.to_string()),
    )])
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}
