//! Rounds that are answered once: a response that was lost is sent again, and
//! two instances do not answer the same round differently.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sterna_flow::FlowId;
use sterna_seal::EntropyError;
use sterna_store::{Backoff, Claimant, Error, ErrorKind, Round, RoundClaim, RoundEntry, Store};

use tokio::time::Instant;

use crate::effects::random_bytes;

/// Result of entering a round in the ledger.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a server acts on each of them")]
pub enum EnteredRound {
    /// It was answered before, with this response.
    Answered(Bytes),
    /// It is to be answered under this lease.
    Leased(RoundLease),
}

/// Reason for which a round cannot be entered or left.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a server acts on each of them")]
pub enum RoundError {
    /// The operating system has no random bytes.
    NoEntropy(EntropyError),
    /// The round was entered with other answers.
    OtherAnswers,
    /// The store failed.
    Store(Error),
}

impl fmt::Display for RoundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoEntropy(_) => "the operating system has no random bytes",
            Self::OtherAnswers => "the round was entered with other answers",
            Self::Store(_) => "the store failed",
        })
    }
}

impl std::error::Error for RoundError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoEntropy(error) => Some(error),
            Self::OtherAnswers => None,
            Self::Store(error) => Some(error),
        }
    }
}

/// Right to answer a round.
pub struct RoundLease {
    store: Arc<dyn Store>,
    round: Round,
    entry: RoundEntry,
}

impl RoundLease {
    /// Enters the round `number` of `flow` in the ledger, where it is kept for
    /// `lifetime`. Waits while another instance answers it.
    ///
    /// `digest` is that of the state and the answers: two retries with the same
    /// one are the same retry.
    ///
    /// # Errors
    ///
    /// The round was entered with another digest, or the store failed.
    ///
    /// # Cancel safety
    ///
    /// A round that was entered stays with this instance until its lease ends.
    pub async fn enter(
        store: &Arc<dyn Store>,
        flow: FlowId,
        number: u32,
        digest: [u8; 32],
        lifetime: Duration,
    ) -> Result<EnteredRound, RoundError> {
        let lease = Self::new(store, flow, number, digest, lifetime)?;
        Ok(match lease.wait().await? {
            Some(response) => EnteredRound::Answered(response),
            None => EnteredRound::Leased(lease),
        })
    }

    /// As [`enter`](Self::enter), and returns `None` if another instance still
    /// answers the round after `patience`.
    ///
    /// # Errors
    ///
    /// As [`enter`](Self::enter).
    ///
    /// # Cancel safety
    ///
    /// As [`enter`](Self::enter).
    pub async fn enter_within(
        store: &Arc<dyn Store>,
        flow: FlowId,
        number: u32,
        digest: [u8; 32],
        lifetime: Duration,
        patience: Duration,
    ) -> Result<Option<EnteredRound>, RoundError> {
        let lease = Self::new(store, flow, number, digest, lifetime)?;
        let deadline = Instant::now() + patience;
        let mut backoff = backoff();
        loop {
            if let Some(entered) = lease.look().await? {
                return Ok(Some(match entered {
                    Some(response) => EnteredRound::Answered(response),
                    None => EnteredRound::Leased(lease),
                }));
            }
            let pause = backoff.pause(u64::MAX);
            // The claim itself is not cut short: one that was granted would be lost.
            if Instant::now() + pause > deadline {
                return Ok(None);
            }
            tokio::time::sleep(pause).await;
        }
    }

    fn new(
        store: &Arc<dyn Store>,
        flow: FlowId,
        number: u32,
        digest: [u8; 32],
        lifetime: Duration,
    ) -> Result<Self, RoundError> {
        let claimant = random_bytes().map_err(RoundError::NoEntropy)?;
        let mut entry = RoundEntry::new(digest, Claimant::from_bytes(claimant), lifetime);
        entry.length = LEASE;
        Ok(Self {
            store: Arc::clone(store),
            round: Round::new(flow, number),
            entry,
        })
    }

    /// Waits until the round is leased to this instance, or answered by another.
    async fn wait(&self) -> Result<Option<Bytes>, RoundError> {
        let mut backoff = backoff();
        loop {
            match self.look().await? {
                Some(entered) => return Ok(entered),
                None => tokio::time::sleep(backoff.pause(u64::MAX)).await,
            }
        }
    }

    /// Asks for the round once: `Some(None)` if it is leased to this instance,
    /// `Some` with the response if it was answered, `None` while another
    /// instance answers it.
    async fn look(&self) -> Result<Option<Option<Bytes>>, RoundError> {
        let entered = self.store.enter_round(self.round, self.entry).await;
        match entered.map_err(RoundError::Store)? {
            RoundClaim::Yours => Ok(Some(None)),
            RoundClaim::Answered(response) => Ok(Some(Some(response))),
            RoundClaim::Other => Err(RoundError::OtherAnswers),
            _ => Ok(None),
        }
    }

    /// Renews the lease while `answering` goes on.
    ///
    /// # Cancel safety
    ///
    /// That of `answering`.
    pub async fn renew_while<T>(&self, answering: impl Future<Output = T>) -> T {
        let mut answering = pin!(answering);
        loop {
            tokio::select! {
                answer = &mut answering => return answer,
                () = tokio::time::sleep(LEASE / 3) => {}
            }
            // The round goes on meanwhile. If the renewal fails, the end of the
            // round will show which instance has the lease.
            let mut renewal = pin!(self.store.enter_round(self.round, self.entry));
            tokio::select! {
                answer = &mut answering => {
                    // A renewal that came after the release would keep the round.
                    let _ = renewal.await;
                    return answer;
                }
                _ = &mut renewal => {}
            }
        }
    }

    /// Gives the round back: it has no response, and the same retry may be
    /// served again at once.
    ///
    /// # Errors
    ///
    /// The store failed; the lease ends by itself.
    pub async fn release(&self) -> Result<(), Error> {
        let mut entry = self.entry;
        entry.length = Duration::ZERO;
        self.store.enter_round(self.round, entry).await.map(drop)
    }

    /// Writes the response of the round, and returns the one to be sent: this
    /// one, or that of the instance that has taken the round over.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn complete(&self, response: Bytes) -> Result<Bytes, RoundError> {
        let (round, claimant) = (self.round, self.entry.claimant);
        let completed = self.store.complete_round(round, claimant, response.clone());
        match completed.await {
            Ok(()) => Ok(response),
            Err(error) if error.kind() == ErrorKind::Fenced => {
                Ok(self.wait().await?.unwrap_or(response))
            }
            Err(error) => Err(RoundError::Store(error)),
        }
    }
}

impl fmt::Debug for RoundLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundLease").finish_non_exhaustive()
    }
}

fn backoff() -> Backoff {
    Backoff::new(Duration::from_millis(20), Duration::from_millis(500))
}

/// Time for which a round stays with an instance that died in it.
const LEASE: Duration = Duration::from_secs(10);
