//! Acknowledged writes are there after a crash.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use sterna_store::{
    Claim, Commit, Effect, EffectClaim, Entry, FlowId, Ledger, Name, NewTask, OnceClaim, Outcome,
    Owner, Page, Passivation, Status, TaskId, Tasks,
};
use sterna_store_sqlite::{Config, SqliteStore};

/// Names the database to the process that is going to be killed.
const VICTIM: &str = "STERNA_TEST_VICTIM";
const CALLER: Owner = Owner::from_digest([1; 32]);
const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn what_was_acknowledged_survives_kill_nine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    for round in 0..3 {
        let acknowledged = run_and_kill(&path, 40 + round);
        let store = SqliteStore::open(&path, Config::default()).unwrap();
        for line in &acknowledged {
            check(&store, line).await;
        }
        store.close().await;
    }
}

/// Lets a process of its own work until it has acknowledged `lines` things.
fn run_and_kill(path: &Path, lines: usize) -> Vec<String> {
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "durability::a_victim_works_until_it_is_killed"])
        .arg("--nocapture")
        .env(VICTIM, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = BufReader::new(victim.stdout.take().unwrap());
    let acknowledged = output
        .lines()
        .map(|line| line.unwrap())
        .filter(|line| line.starts_with("ack "))
        .take(lines)
        .collect();
    victim.kill().unwrap();
    victim.wait().unwrap();
    acknowledged
}

async fn check(store: &SqliteStore, line: &str) {
    let words: Vec<_> = line.split(' ').collect();
    let id: TaskId = words[2].parse().unwrap();
    let task = store.read(CALLER, id).await.unwrap();
    let task = task.unwrap_or_else(|| panic!("{line}: the task is gone"));
    match words[1] {
        "created" => {}
        "stepped" => {
            // The step was appended; a task that is finished has no need of it.
            if task.summary.status == Status::Working {
                let claimed = reclaim(store, id).await;
                assert_eq!(claimed[0].value, "done", "{line}");
            }
        }
        "finished" => assert_eq!(task.summary.status, Status::Completed, "{line}"),
        "charged" => {
            let effect = Effect::new(FlowId::from_bytes(*id.as_bytes()), name("charge"));
            let other = sterna_store::Claimant::from_bytes([9; 16]);
            let claim = store
                .claim_once(effect, EffectClaim::new(other, HOUR))
                .await
                .unwrap();
            let OnceClaim::Settled { result, .. } = claim else {
                panic!("{line}: {claim:?}");
            };
            assert_eq!(result, "receipt", "{line}");
        }
        other => panic!("{other} is nothing a victim says"),
    }
}

/// The journal of `id`, whose lease has ended or soon will.
async fn reclaim(store: &SqliteStore, id: TaskId) -> Vec<Entry> {
    // The victim's leases are short, and claiming hands out every task that
    // is due; those that are not asked for are handed back.
    loop {
        let mut claim = Claim::new(name("survivor"), HOUR);
        claim.limit = 100;
        let mut found = None;
        for claimed in store.claim(claim).await.unwrap() {
            if claimed.lease.task == id {
                found = Some(claimed.journal);
            }
            let rest = Passivation::HandOver;
            store
                .passivate(claimed.lease, Commit::default(), rest)
                .await
                .unwrap();
        }
        if let Some(journal) = found {
            return journal;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_victim_works_until_it_is_killed() {
    // Without a parent process that kills it there is nothing to do.
    let Some(path) = std::env::var_os(VICTIM) else {
        return;
    };
    let store = SqliteStore::open(path, Config::default()).unwrap();
    let page = store.list(CALLER, Page::first(100_000)).await.unwrap();
    for number in page.tasks.len().. {
        work(&store, number).await;
    }
}

async fn work(store: &SqliteStore, number: usize) {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    let id = TaskId::from_bytes(bytes);
    let flow = FlowId::from_bytes(bytes);
    let task = NewTask::new(id, CALLER, flow, name("victim"), Bytes::new());
    store.create(task).await.unwrap();
    println!("ack created {id}");

    let claim = Claim::new(name("victim"), Duration::from_millis(1));
    let Some(claimed) = store.claim(claim).await.unwrap().pop() else {
        return;
    };
    let id = claimed.lease.task;
    let step = Commit::of([Entry::new(name("step"), "done".into())]);
    if store.append(claimed.lease, step).await.is_err() {
        return;
    }
    println!("ack stepped {id}");

    let claimant = sterna_store::Claimant::from_bytes([1; 16]);
    let effect = Effect::new(claimed.flow, name("charge"));
    if store
        .claim_once(effect.clone(), EffectClaim::new(claimant, HOUR))
        .await
        .unwrap()
        == OnceClaim::Won
    {
        store
            .settle_once(effect, claimant, "receipt".into())
            .await
            .unwrap();
        println!("ack charged {id}");
    }
    let done = Outcome::Completed("done".into());
    if store.finish(claimed.lease, done).await.is_ok() {
        println!("ack finished {id}");
    }
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}
