//! Values and assertions that the cases share.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;

use super::Subject;
use super::case::Broken;
use crate::{
    Answer, BoxFuture, Claim, Claimant, Claimed, Entry, FlowId, Lease, Name, NewTask, Owner,
    Question, Sweep, Task, TaskId, Tasks,
};

pub(super) const MINUTE: Duration = Duration::from_secs(60);
pub(super) const HOUR: Duration = Duration::from_secs(3600);
/// The length of every lease, unless a case says otherwise.
pub(super) const LEASE: Duration = MINUTE;

pub(super) const CALLER: Owner = Owner::from_digest([0xca; 32]);
pub(super) const STRANGER: Owner = Owner::from_digest([0x57; 32]);

pub(super) fn id(number: u8) -> TaskId {
    TaskId::from_bytes([number; 16])
}

pub(super) fn flow(number: u8) -> FlowId {
    FlowId::from_bytes([number; 16])
}

pub(super) fn claimant(number: u8) -> Claimant {
    Claimant::from_bytes([number; 16])
}

pub(super) fn name(text: &str) -> Name {
    Name::new(text).expect("the cases use short names")
}

pub(super) fn entry(key: &str, value: &str) -> Entry {
    Entry::new(name(key), bytes(value))
}

pub(super) fn question(key: &str) -> Question {
    Question::new(name(key), [1; 16], bytes(&format!("{key}?")))
}

pub(super) fn answer(key: &str, response: &str) -> Answer {
    Answer::new(name(key), bytes(response))
}

pub(super) fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

/// Every byte in turn, `length` bytes long or a little less.
pub(super) fn pattern(length: usize) -> Bytes {
    let every: Vec<u8> = (0..=255).collect();
    every.repeat(length / 256).into()
}

pub(super) fn new_task(number: u8) -> NewTask {
    NewTask::new(
        id(number),
        CALLER,
        flow(number),
        name("deploy"),
        bytes("request"),
    )
}

pub(super) fn claim(limit: u32) -> Claim {
    let mut claim = Claim::new(name("worker"), LEASE);
    claim.limit = limit;
    claim
}

pub(super) fn sweep() -> Sweep {
    let mut sweep = Sweep::new(bytes("too late"));
    sweep.keep = HOUR;
    sweep
}

impl Subject<dyn Tasks> {
    /// The task `number`, created and held.
    pub(super) async fn held(&self, number: u8) -> Result<Lease, Broken> {
        self.store().create(new_task(number)).await?;
        Ok(self.claimed(number).await?.lease)
    }

    /// The only task that wants a worker, which is `number`.
    pub(super) async fn claimed(&self, number: u8) -> Result<Claimed, Broken> {
        let mut claimed = self.store().claim(claim(10)).await?;
        match claimed.pop() {
            Some(one) if claimed.is_empty() && one.lease.task == id(number) => Ok(one),
            other => Err(Broken::new(format!(
                "wanted to claim task {number} alone, got {other:?} and {claimed:?}"
            ))),
        }
    }

    /// Insists that no task wants a worker.
    pub(super) async fn idle(&self) -> Result<(), Broken> {
        let claimed = self.store().claim(claim(10)).await?;
        super::case::same(claimed, Vec::new())
    }

    /// The task `number` as its owner sees it.
    pub(super) async fn seen(&self, number: u8) -> Result<Task, Broken> {
        let task = self.store().read(CALLER, id(number)).await?;
        task.ok_or_else(|| Broken::new(format!("task {number} is gone")))
    }
}

/// Polls all futures in turn until each is done.
pub(super) async fn together<T>(mut futures: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (future, done) in futures.iter_mut().zip(&mut done) {
            if done.is_none()
                && let Poll::Ready(value) = future.as_mut().poll(cx)
            {
                *done = Some(value);
            }
        }
        if done.iter().all(Option::is_some) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    done.into_iter().flatten().collect()
}
