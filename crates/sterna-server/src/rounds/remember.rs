//! Rounds that are answered once: a lost response is sent again, and nobody
//! answers the same round differently.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ring::digest::{Context, SHA256};
use sterna_seal::{Entropy, OpenError, OsEntropy};
use sterna_store::{
    Backoff, Claimant, Entered, ErrorKind, FlowId, Round as StoredRound, RoundEntry, Store,
};

use super::Round;
use super::token::{Thread, refused};
use crate::failure::Failure;
use crate::tasks::store_failed;

/// What becomes of a retry.
pub(crate) enum Retry {
    /// It was answered before, with this.
    Again(Bytes),
    /// It is answered here and written down.
    Play(Ticket),
}

/// The right to answer a round.
pub(crate) struct Ticket {
    store: Arc<dyn Store>,
    round: StoredRound,
    entry: RoundEntry,
}

impl Round {
    /// Whether the round is entered in the ledger: it is a retry, and the
    /// server or the tool wants that.
    pub(crate) fn is_remembered(&self) -> bool {
        let can_be = self.core.tasks.is_some() && self.state.is_some();
        can_be && (self.core.remembers_rounds || self.is_single_use())
    }

    /// Enters a round that is remembered.
    ///
    /// # Errors
    ///
    /// The round was entered with other answers, or was answered and its tool
    /// may be used once only.
    pub(crate) async fn enter(&self) -> Result<Retry, Failure> {
        let (Some(tasks), Some(state)) = (&self.core.tasks, &self.state) else {
            return Err(Failure::Internal);
        };
        let is_single_use = self.is_single_use();
        let thread = Thread::find(self).await?;
        let mut claimant = [0; 16];
        OsEntropy
            .fill(&mut claimant)
            .map_err(|_| Failure::Internal)?;
        let claimant = Claimant::from_bytes(claimant);
        let digest = self.digest(state.as_str());
        let mut entry = RoundEntry::new(digest, claimant, self.target.lifetimes.flow);
        entry.length = LEASE;
        let ticket = Ticket {
            store: Arc::clone(&tasks.store),
            round: StoredRound::new(FlowId::from_bytes(thread.flow.to_bytes()), thread.round),
            entry,
        };
        match ticket.wait().await? {
            None => Ok(Retry::Play(ticket)),
            Some(_) if is_single_use => Err(refused(&self.core, OpenError::Unreadable)),
            Some(response) => Ok(Retry::Again(response)),
        }
    }

    fn is_single_use(&self) -> bool {
        let tool = self.core.offers.tools.get(&self.target.name);
        self.target.method == "tools/call" && tool.is_some_and(|tool| tool.is_single_use)
    }

    /// What makes two retries the same: the state and the answers.
    fn digest(&self, state: &str) -> [u8; 32] {
        let mut context = Context::new(&SHA256);
        let mut add = |text: &str| {
            context.update(&(text.len() as u64).to_be_bytes());
            context.update(text.as_bytes());
        };
        add(state);
        let mut answers: Vec<_> = self.responses.iter().flat_map(|all| all.iter()).collect();
        answers.sort_by_key(|(key, _)| *key);
        for (key, answer) in answers {
            add(key);
            add(answer.as_str());
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(context.finish().as_ref());
        digest
    }
}

impl Ticket {
    /// Waits until the round is ours, or answered by somebody else.
    async fn wait(&self) -> Result<Option<Bytes>, Failure> {
        let mut backoff = Backoff::new(Duration::from_millis(20), Duration::from_millis(500));
        loop {
            let entered = self.store.enter_round(self.round, self.entry).await;
            match entered.map_err(|error| store_failed(&error))? {
                Entered::Yours => return Ok(None),
                Entered::Answered(response) => return Ok(Some(response)),
                Entered::Other => {
                    tracing::info!(target: "sterna::rounds", "a round was retried with other answers");
                    return Err(Failure::State);
                }
                _ => tokio::time::sleep(backoff.pause(u64::MAX)).await,
            }
        }
    }

    /// Keeps the round ours while `playing` goes on.
    pub(crate) async fn keep<T>(&self, playing: impl Future<Output = T>) -> T {
        let mut playing = std::pin::pin!(playing);
        loop {
            tokio::select! {
                played = &mut playing => return played,
                () = tokio::time::sleep(LEASE / 3) => {
                    // If it fails, the end of the round will show whose it is.
                    let _ = self.store.enter_round(self.round, self.entry).await;
                }
            }
        }
    }

    /// Lets the round go: it has no response, and the same retry may be played
    /// again at once.
    pub(crate) async fn release(&self) {
        let mut entry = self.entry;
        entry.length = Duration::ZERO;
        // If it fails, the lease ends by itself.
        if let Err(error) = self.store.enter_round(self.round, entry).await {
            store_failed(&error);
        }
    }

    /// Writes the response down and gives what is to be sent: ours, or that of
    /// whoever took the round over.
    pub(crate) async fn leave(&self, response: Bytes) -> Result<Bytes, Failure> {
        let claimant = self.entry.claimant;
        let left = self
            .store
            .leave_round(self.round, claimant, response.clone());
        match left.await {
            Ok(()) => Ok(response),
            Err(error) if error.kind() == ErrorKind::Fenced => {
                Ok(self.wait().await?.unwrap_or(response))
            }
            Err(error) => Err(store_failed(&error)),
        }
    }
}

/// How long a round stays with an instance that died in it.
const LEASE: Duration = Duration::from_secs(10);
