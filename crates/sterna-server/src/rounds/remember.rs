//! Rounds that are answered once: a lost response is sent again, and nobody
//! answers the same round differently.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ring::digest::{Context, SHA256};
use sterna_seal::{Entropy, OpenError, OsEntropy};
use sterna_store::{
    Backoff, Claimant, ErrorKind, Round as StoredRound, RoundClaim, RoundEntry, Store,
};

use super::token::{Thread, refused};
use super::{Round, flow, low_level};
use crate::around::{RoundEnd, Watched};
use crate::failure::Failure;
use crate::handler::Way;
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

/// A round whose state is opened and whose answers are in order, so that
/// nothing but its handler can refuse it.
pub(crate) struct Entering {
    pub(super) thread: Option<Thread>,
    pub(super) watched: Option<Watched>,
}

impl Round {
    /// Whether the round is entered in the ledger: it is a retry, and neither
    /// the server nor the tool wants it otherwise.
    pub(crate) fn is_remembered(&self) -> bool {
        let can_be = self.core.tasks.is_some() && self.state.is_some();
        can_be && (self.core.remembers_rounds || self.is_single_use())
    }

    /// Enters a round that is remembered.
    ///
    /// A state that is not accepted, answers that are malformed and a hook that
    /// refuses come before that: the client may still send the right retry.
    ///
    /// # Errors
    ///
    /// It was refused, or was entered with other answers, or was answered and
    /// its tool may be used once only.
    pub(crate) async fn enter<T>(&mut self, way: &Way<T>) -> Result<Retry, Failure> {
        let watched = Watched::begin(&self.core, &self.request, &self.target);
        let (retry, thread) = match Thread::take_up(self).await {
            Ok(thread) => (self.claim(way, &thread).await, Some(thread)),
            Err(failure) => (Err(failure), None),
        };
        match &retry {
            Ok(Retry::Play(_)) => {
                let entering = Entering {
                    thread,
                    watched: Some(watched),
                };
                self.entered = Some(Box::new(entering));
            }
            Ok(Retry::Again(_)) => watched.end(RoundEnd::Finished),
            Err(_) => watched.end(RoundEnd::Failed),
        }
        retry
    }

    async fn claim<T>(&self, way: &Way<T>, thread: &Thread) -> Result<Retry, Failure> {
        let (Some(tasks), Some(state)) = (&self.core.tasks, &self.state) else {
            return Err(Failure::Internal);
        };
        let is_single_use = self.is_single_use();
        match way {
            Way::Flow(_) => flow::check(self, thread)?,
            Way::LowLevel(_) => low_level::check(self, thread)?,
        }
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
            round: StoredRound::new(thread.flow, thread.round),
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
                RoundClaim::Yours => return Ok(None),
                RoundClaim::Answered(response) => return Ok(Some(response)),
                RoundClaim::Other => {
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
                () = tokio::time::sleep(LEASE / 3) => {}
            }
            // The round goes on meanwhile. If the renewal fails, the end of the
            // round will show whose it is.
            let mut renewal = std::pin::pin!(self.store.enter_round(self.round, self.entry));
            tokio::select! {
                played = &mut playing => {
                    // A renewal that came after the release would keep the round.
                    let _ = renewal.await;
                    return played;
                }
                _ = &mut renewal => {}
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
            .complete_round(self.round, claimant, response.clone());
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
