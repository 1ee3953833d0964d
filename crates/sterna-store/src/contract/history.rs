//! Random operations on a store: every store behaves as the one in memory does.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bytes::Bytes;

use super::Subject;
use super::case::{Broken, cases};
use super::fixture::{MINUTE, answer, bytes, claimant, flow, id, name};
use super::rng::Rng;
use crate::{
    BlobId, Claim, Claimed, Commit, Effect, EffectClaim, Error, Lease, MemoryLimits, MemoryStore,
    NewTask, OnceClaim, Outcome, Owner, Page, Passivation, Round, RoundClaim, RoundEntry, Store,
    Summary, Sweep, Task, UnixMillis,
};

/// One thing that is done to a store.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    Advance(Duration),
    Answer(Owner, u8, Vec<&'static str>),
    Append(Lease, Commit),
    Cancel(Owner, u8),
    Claim(Claim),
    ClaimOnce(u8, u8),
    Create(NewTask),
    EnterRound(u8, u8),
    Finish(Lease, Outcome),
    CompleteRound(u8, u8),
    List(Owner),
    Passivate(Lease, Commit, Passivation),
    PutBlob(u8, u8),
    Read(Owner, u8),
    ReadBlob(u8),
    Renew(Lease),
    SettleOnce(u8, u8),
    Sweep,
}

/// Result of an operation, without its times, which differ between clocks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Observed(String);

pub(super) const LEASE: Duration = MINUTE.saturating_mul(60);
pub(super) const TTL: Duration = MINUTE.saturating_mul(600);

impl Operation {
    /// Does it to `store`; leases that were given are added to `leases`.
    pub(super) async fn apply(&self, store: &dyn Store, leases: &mut Vec<Lease>) -> Observed {
        Observed(match self.clone() {
            Self::Advance(_) => String::new(),
            Self::Answer(caller, task, keys) => {
                let answers = keys.iter().map(|key| answer(key, key)).collect();
                show(store.answer(caller, id(task), answers).await, |a| {
                    format!("{a:?}")
                })
            }
            Self::Append(lease, commit) => show(store.append(lease, commit).await, |news| {
                format!("{news:?}")
            }),
            Self::Cancel(caller, task) => show(store.cancel(caller, id(task)).await, |status| {
                format!("{status:?}")
            }),
            Self::Claim(claim) => show(store.claim(claim).await, |mut claimed| {
                claimed.sort_by_key(|claimed| claimed.lease.task);
                leases.extend(claimed.iter().map(|claimed| claimed.lease));
                format!("{:?}", claimed.iter().map(claimed_text).collect::<Vec<_>>())
            }),
            Self::ClaimOnce(effect, who) => {
                let effect = Effect::new(flow(effect), name("charge"));
                let claim = store
                    .claim_once(effect, EffectClaim::new(claimant(who), TTL))
                    .await;
                show(claim, |claim| match claim {
                    OnceClaim::Ambiguous { .. } => "ambiguous".to_owned(),
                    other => format!("{other:?}"),
                })
            }
            Self::Create(task) => show(store.create(task).await, |s| summary_text(&s)),
            Self::EnterRound(round, who) => {
                let mut entry = RoundEntry::new([who / 2; 32], claimant(who), TTL);
                entry.length = LEASE;
                let entered = store
                    .enter_round(Round::new(flow(1), round.into()), entry)
                    .await;
                show(entered, |entered| match entered {
                    RoundClaim::Busy { .. } => "busy".to_owned(),
                    other => format!("{other:?}"),
                })
            }
            Self::Finish(lease, outcome) => show(store.finish(lease, outcome).await, |status| {
                format!("{status:?}")
            }),
            Self::CompleteRound(round, who) => {
                let round = Round::new(flow(1), round.into());
                let response = bytes(&format!("response {who}"));
                show(
                    store.complete_round(round, claimant(who), response).await,
                    |()| String::new(),
                )
            }
            Self::List(caller) => show(store.list(caller, Page::first(50)).await, |listing| {
                let mut tasks = listing.tasks;
                tasks.sort_by_key(|task| task.id);
                format!("{:?}", tasks.iter().map(summary_text).collect::<Vec<_>>())
            }),
            Self::Passivate(lease, commit, rest) => {
                let rested = store.passivate(lease, commit, rest).await;
                show(rested, |rested| format!("{rested:?}"))
            }
            Self::PutBlob(blob, value) => {
                let id = BlobId::from_bytes([blob; 16]);
                let value = Bytes::from(vec![value; 9]);
                show(store.put_blob(id, value, TTL).await, |()| String::new())
            }
            Self::Read(caller, task) => show(store.read(caller, id(task)).await, |task| {
                format!("{:?}", task.as_ref().map(task_text))
            }),
            Self::ReadBlob(blob) => {
                let value = store.blob(BlobId::from_bytes([blob; 16])).await;
                show(value, |value| format!("{value:?}"))
            }
            Self::Renew(lease) => show(store.renew(lease, LEASE).await, |news| format!("{news:?}")),
            Self::SettleOnce(effect, who) => {
                let effect = Effect::new(flow(effect), name("charge"));
                let result = bytes(&format!("receipt {who}"));
                show(
                    store.settle_once(effect, claimant(who), result).await,
                    |()| String::new(),
                )
            }
            Self::Sweep => {
                let mut sweep = Sweep::new(bytes("too late"));
                sweep.keep = LEASE;
                let tasks = store.sweep_tasks(sweep).await;
                let ledger = store.sweep_ledger(1000).await;
                let blobs = store.sweep_blobs(1000).await;
                show(tasks, |t| format!("{t:?}"))
                    + &show(ledger, |n| n.to_string())
                    + &show(blobs, |n| n.to_string())
            }
        })
    }
}

fn show<T>(result: Result<T, Error>, text: impl FnOnce(T) -> String) -> String {
    match result {
        Ok(value) => text(value),
        Err(error) => format!("refused as {:?}", error.kind()),
    }
}

fn summary_text(summary: &Summary) -> String {
    let Summary {
        id,
        target,
        status,
        note,
        expires_at,
        ..
    } = summary;
    let mortal = expires_at.is_some();
    format!("{id:?} {target} {status:?} {note:?} {mortal}")
}

fn task_text(task: &Task) -> String {
    let summary = summary_text(&task.summary);
    format!("{summary} {:?} {:?}", task.questions, task.outcome)
}

fn claimed_text(claimed: &Claimed) -> String {
    let Claimed {
        lease,
        flow,
        journal,
        asked,
        answers,
        attempt,
        ..
    } = claimed;
    let summary = summary_text(&claimed.summary);
    format!("{lease:?} {summary} {flow:?} {journal:?} {asked:?} {answers:?} {attempt}")
}

cases! { dyn Store:
    random_histories_go_as_they_go_in_memory,
}

/// Number of operations in a history, and number of histories.
const LENGTH: usize = 250;
const HISTORIES: u64 = 8;

async fn random_histories_go_as_they_go_in_memory(
    subject: Subject<dyn Store>,
) -> Result<(), Broken> {
    let time = Arc::new(AtomicI64::new(0));
    let clock = Arc::clone(&time);
    let now = move || UnixMillis::new(clock.load(Ordering::Relaxed));
    let memory = MemoryStore::with_clock(MemoryLimits::default(), now);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    // One history goes on where the other stopped: what is old and strange is
    // then part of the test.
    for seed in 0..HISTORIES {
        let mut rng = Rng::new(seed);
        for step in 0..LENGTH {
            let operation = rng.operation(&ours);
            if let Operation::Advance(by) = operation {
                time.fetch_add(UnixMillis::span(by), Ordering::Relaxed);
                subject.advance(by).await?;
            }
            let wanted = operation.apply(&memory, &mut ours).await;
            let got = operation.apply(subject.store(), &mut theirs).await;
            if got != wanted {
                return Err(Broken::new(format!(
                    "history {seed}, step {step}: {operation:?}\n  gave {got:?}\n  wanted {wanted:?}"
                )));
            }
        }
    }
    Ok(())
}
