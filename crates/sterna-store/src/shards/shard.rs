//! One of several stores, and whether it answers.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::{BlobId, BoxFuture, Error, ErrorKind, Owner, Store};

/// One store of a set of [`Shards`](crate::Shards), with a name for operators.
#[derive(Clone)]
#[non_exhaustive]
pub struct Shard {
    /// Name in errors and in `/readyz`. It is shown to operators, so it holds no
    /// password.
    pub name: String,
    /// The store.
    pub store: Arc<dyn Store>,
}

impl Shard {
    /// The store `store` with the name `name`.
    pub fn new(name: impl Into<String>, store: Arc<dyn Store>) -> Self {
        let name = name.into();
        Self { name, store }
    }
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A shard and the outcome of its last calls.
pub(super) struct WatchedShard {
    shard: Shard,
    health: Mutex<ShardHealth>,
    turns: Mutex<ShardTurns>,
}

#[derive(Clone, Copy, Default)]
struct ShardHealth {
    /// `Some` while the shard does not answer: the time of the next try.
    retry_at: Option<Instant>,
}

/// The owners that had their turns on one shard.
#[derive(Default)]
struct ShardTurns {
    claims: u32,
    last: Option<Owner>,
}

impl WatchedShard {
    pub(super) fn new(shard: Shard) -> Self {
        Self {
            shard,
            health: Mutex::default(),
            turns: Mutex::default(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.shard.name
    }

    pub(super) fn store(&self) -> &dyn Store {
        &*self.shard.store
    }

    /// Makes a call, notes whether the shard answered, and names the shard in an
    /// error.
    pub(super) async fn call<'a, T>(
        &'a self,
        call: impl FnOnce(&'a dyn Store) -> BoxFuture<'a, Result<T, Error>>,
    ) -> Result<T, Error> {
        let result = call(&*self.shard.store).await;
        let result = result.map_err(|error| self.name_in(error));
        self.note(result.as_ref().err());
        result
    }

    /// As [`call`](Self::call), for at most `patience`.
    pub(super) async fn call_for<'a, T>(
        &'a self,
        patience: Duration,
        call: impl FnOnce(&'a dyn Store) -> BoxFuture<'a, Result<T, Error>>,
    ) -> Result<T, Error> {
        match timeout(patience, self.call(call)).await {
            Ok(result) => result,
            Err(_) => {
                let text = format!("shard {}: no answer in {patience:?}", self.name());
                let error = Error::new(ErrorKind::Unavailable, text);
                self.note(Some(&error));
                Err(error)
            }
        }
    }

    /// Reads a blob that need not exist, to learn whether the shard answers.
    pub(super) async fn look(&self) -> Result<(), Error> {
        self.call_for(LOOK, |store| store.blob(BlobId::from_bytes([0; 16])))
            .await
            .map(drop)
    }

    /// Returns `true` if the shard answered its last call.
    pub(super) fn answers(&self) -> bool {
        self.health().retry_at.is_none()
    }

    /// Returns `true` if it is time to try a shard again that did not answer.
    pub(super) fn is_due(&self) -> bool {
        let now = Instant::now();
        self.health().retry_at.is_some_and(|retry| retry <= now)
    }

    /// The owner after which the next claim begins, when the worker last had a
    /// task of `wanted`.
    ///
    /// Turns go on where those of the worker are, over all shards. By that alone
    /// an owner could be passed over for ever, because its shard is asked each
    /// time another owner is next; so every fourth claim goes on where this shard
    /// itself is. `true` says that it is such a claim.
    pub(super) fn turn(&self, wanted: Option<Owner>) -> (Option<Owner>, OwnTurn) {
        let mut turns = self.turns();
        turns.claims = turns.claims.wrapping_add(1);
        match turns.claims.is_multiple_of(4) {
            true => (turns.last, OwnTurn::Yes),
            false => (wanted, OwnTurn::No),
        }
    }

    /// Notes the owner that had the last turn of a claim.
    pub(super) fn had_turn(&self, own: OwnTurn, owner: Option<Owner>) {
        if own == OwnTurn::Yes {
            self.turns().last = owner;
        }
    }

    fn name_in(&self, error: Error) -> Error {
        let text = format!("shard {}: {error}", self.name());
        let named = Error::new(error.kind(), text);
        let named = match error.code() {
            Some(code) => named.with_code(code),
            None => named,
        };
        named.because(error)
    }

    fn note(&self, error: Option<&Error>) {
        let failed = error.is_some_and(|error| {
            matches!(
                error.kind(),
                ErrorKind::Denied | ErrorKind::Incompatible | ErrorKind::Unavailable
            )
        });
        self.health().retry_at = failed.then(|| Instant::now() + PAUSE);
    }

    fn health(&self) -> MutexGuard<'_, ShardHealth> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turns(&self) -> MutexGuard<'_, ShardTurns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whose turns a claim goes by: those of the shard, or those of the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnTurn {
    No,
    Yes,
}

/// Longest wait for a shard that is asked whether it answers.
const LOOK: Duration = Duration::from_millis(500);

/// Pause before a shard that does not answer is asked again: ten times the wait
/// for it, so that claims lose a tenth of their time to it at most.
const PAUSE: Duration = Duration::from_secs(5);
