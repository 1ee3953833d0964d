//! Everything outside a handler: what its steps do, and when.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use bytes::Bytes;

use super::program::{BodyKind, StepNode};
use super::rng::mix;
use crate::{
    BackendError, Blobs, BoxFuture, Claim, Entry, FlowId, IdempotencyKey, JournalSink, Key, Ledger,
};

/// Everything outside a handler. Outlives crashes.
#[derive(Clone, Default)]
pub(super) struct World(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    values: u64,
    started: usize,
    /// Steps whose result is safe: their bodies must not run again.
    safe: HashSet<[u8; 16]>,
    /// Effects that have begun, ever.
    begun: HashSet<[u8; 16]>,
    gates: BTreeMap<u64, (bool, Option<Waker>)>,
    next_gate: u64,
    faults: Vec<String>,
    undone: Vec<Key>,
    /// Effects that were claimed: under which answers, and their result.
    ledger: HashMap<String, (Bytes, Option<Bytes>)>,
    /// The input of each result of an effect.
    made_from: HashMap<u64, u64>,
    checks_paths: bool,
    blobs: HashMap<Bytes, Bytes>,
    stored: Vec<Entry>,
    has_runtime: bool,
    writes_slowly: u32,
}

impl World {
    pub(super) fn new(has_runtime: bool, writes_slowly: u32) -> Self {
        let world = Self::default();
        world.with(|inner| {
            inner.has_runtime = has_runtime;
            inner.writes_slowly = writes_slowly;
        });
        world
    }

    fn with<R>(&self, change: impl FnOnce(&mut Inner) -> R) -> R {
        change(&mut self.0.lock().unwrap())
    }

    pub(super) fn started(&self) -> usize {
        self.with(|inner| inner.started)
    }

    pub(super) fn faults(&self) -> Vec<String> {
        self.with(|inner| inner.faults.clone())
    }

    pub(super) fn stored(&self) -> Vec<Entry> {
        self.with(|inner| inner.stored.clone())
    }

    pub(super) fn undone(&self) -> Vec<Key> {
        self.with(|inner| inner.undone.clone())
    }

    pub(super) fn undo(&self, key: Key) {
        self.with(|inner| inner.undone.push(key));
    }

    pub(super) fn blob(&self, reference: &Bytes) -> Option<Bytes> {
        self.with(|inner| inner.blobs.get(reference).cloned())
    }

    /// The results in `entries` are with the client or in a store.
    pub(super) fn keep<'e>(&self, flow: &FlowId, entries: impl Iterator<Item = &'e Entry>) {
        self.with(|inner| {
            for entry in entries {
                let key = IdempotencyKey::derive(&super::sha256, flow, entry.key());
                inner.safe.insert(*key.as_bytes());
            }
        });
    }

    /// Lets one of the bodies that wait go on. Says whether there was one.
    pub(super) fn open_gate(&self, choose: u64) -> bool {
        let waker = self.with(|inner| {
            let closed: Vec<u64> = inner
                .gates
                .iter()
                .filter(|(_, (open, waker))| !open && waker.is_some())
                .map(|(id, _)| *id)
                .collect();
            let at = usize::try_from(choose % (closed.len().max(1) as u64)).unwrap();
            let gate = inner.gates.get_mut(closed.get(at)?)?;
            gate.0 = true;
            gate.1.take()
        });
        if let Some(waker) = &waker {
            waker.wake_by_ref();
        }
        waker.is_some()
    }

    /// The body of a step: its result is a number that no other run returns.
    pub(super) async fn work(
        self,
        key: IdempotencyKey,
        step: StepNode,
        at_most_once: bool,
        fails: bool,
    ) -> Result<u64, String> {
        self.with(|inner| {
            inner.started += 1;
            if inner.safe.contains(key.as_bytes()) {
                inner
                    .faults
                    .push(format!("a finished step ran again: {step:?}"));
            }
            if !inner.begun.insert(*key.as_bytes()) && at_most_once {
                inner.faults.push(format!("ran twice: {step:?}"));
            }
        });
        match step.body {
            BodyKind::Sync => {}
            BodyKind::Wakes(count) => wake_self(count).await,
            BodyKind::Gate => self.wait_at_gate().await,
            BodyKind::Spawn => {
                if self.with(|inner| inner.has_runtime) {
                    let mut elsewhere = tokio::task::JoinSet::new();
                    elsewhere.spawn(tokio::task::yield_now());
                    elsewhere.join_next().await;
                }
            }
        }
        if fails {
            return Err("failed".to_owned());
        }
        Ok(self.with(|inner| {
            inner.values += 1;
            mix(inner.values)
        }))
    }

    /// Notes that `result` was made from `path`, a digest of all that led there.
    pub(super) fn made(&self, result: u64, path: u64) {
        self.with(|inner| inner.made_from.insert(result, path));
    }

    /// A handler that came by `path` gets `result`.
    pub(super) fn hand_out(&self, result: u64, path: u64) {
        self.with(|inner| {
            let made_from = inner.made_from.get(&result).copied();
            if inner.checks_paths && made_from != Some(path) {
                let fault = format!("a result of {made_from:?} reached {path}");
                inner.faults.push(fault);
            }
        });
    }

    /// From here on a result that reaches another path than its own is a fault.
    ///
    /// Only for programs in which everything that a path depends on is an
    /// answer or an effect.
    pub(super) fn check_paths(&self) {
        self.with(|inner| inner.checks_paths = true);
    }

    async fn wait_at_gate(&self) {
        let id = self.with(|inner| {
            inner.next_gate += 1;
            inner.gates.insert(inner.next_gate, (false, None));
            inner.next_gate
        });
        let gate = Gate { world: self, id };
        poll_fn(|cx| {
            gate.world.with(|inner| {
                let (open, waker) = inner.gates.get_mut(&gate.id).unwrap();
                *waker = Some(cx.waker().clone());
                if *open {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
        })
        .await;
    }
}

struct Gate<'w> {
    world: &'w World,
    id: u64,
}

impl Drop for Gate<'_> {
    fn drop(&mut self) {
        self.world.with(|inner| inner.gates.remove(&self.id));
    }
}

/// Is pending `count` times, and wakes itself each time.
pub(super) async fn wake_self(mut count: u32) {
    poll_fn(|cx| {
        if count == 0 {
            return Poll::Ready(());
        }
        count -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl JournalSink for World {
    fn append(&self, entries: Vec<Entry>) -> BoxFuture<Result<(), BackendError>> {
        let world = self.clone();
        let slowly = self.with(|inner| inner.writes_slowly);
        Box::pin(async move {
            match slowly {
                0..3 => wake_self(slowly).await,
                _ => world.wait_at_gate().await,
            }
            world.with(|inner| inner.stored.extend(entries));
            // A crash here leaves entries that no handler was told of.
            wake_self(slowly % 2).await;
            Ok(())
        })
    }
}

impl Ledger for World {
    fn claim(
        &self,
        _: &FlowId,
        key: &Key,
        answers: Bytes,
    ) -> BoxFuture<Result<Claim, BackendError>> {
        let claim = self.with(|inner| match inner.ledger.get(key.as_str()) {
            None => {
                inner.ledger.insert(key.to_string(), (answers, None));
                Claim::Fresh
            }
            Some((answers, None)) => Claim::Taken {
                answers: answers.clone(),
            },
            Some((answers, Some(result))) => Claim::Done {
                result: result.clone(),
                answers: answers.clone(),
            },
        });
        Box::pin(async { Ok(claim) })
    }

    fn settle(&self, _: &FlowId, key: &Key, result: Bytes) -> BoxFuture<Result<(), BackendError>> {
        let world = self.clone();
        let key = key.to_string();
        Box::pin(async move {
            wake_self(1).await;
            world.with(|inner| inner.ledger.entry(key).or_default().1 = Some(result));
            Ok(())
        })
    }
}

impl Blobs for World {
    fn put(&self, _: &FlowId, key: &Key, value: Bytes) -> BoxFuture<Result<Bytes, BackendError>> {
        let world = self.clone();
        let key = key.to_string();
        Box::pin(async move {
            wake_self(1).await;
            let reference = world.with(|inner| {
                let reference = Bytes::from(format!("{key}-{}", inner.blobs.len()));
                inner.blobs.insert(reference.clone(), value);
                reference
            });
            Ok(reference)
        })
    }

    fn get(&self, reference: Bytes) -> BoxFuture<Result<Bytes, BackendError>> {
        let world = self.clone();
        Box::pin(async move {
            wake_self(1).await;
            world.blob(&reference).ok_or(BackendError::Missing)
        })
    }
}
