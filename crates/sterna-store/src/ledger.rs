//! The ledger: effects that run at most once, rounds that are answered once.

use std::time::Duration;

use bytes::Bytes;

use crate::{BoxFuture, Claimant, Error, FlowId, Name};

/// Remembers which effects were begun and which rounds were answered.
///
/// A server without tasks needs only this part of a store.
pub trait Ledger: Send + Sync {
    /// Claims the right to run `effect`, durably, before it runs.
    fn claim_once(
        &self,
        effect: Effect,
        claim: EffectClaim,
    ) -> BoxFuture<'_, Result<OnceClaim, Error>>;

    /// Records the result of an effect. The same result again is harmless.
    ///
    /// # Errors
    ///
    /// `Fenced` if `claimant` did not win the claim, `Conflict` if it recorded
    /// another result.
    fn settle_once(
        &self,
        effect: Effect,
        claimant: Claimant,
        result: Bytes,
    ) -> BoxFuture<'_, Result<(), Error>>;

    /// Asks to answer a round of a flow.
    fn enter_round(
        &self,
        round: Round,
        entry: RoundEntry,
    ) -> BoxFuture<'_, Result<RoundClaim, Error>>;

    /// Stores the response of a round, so that the same retry gets it again.
    ///
    /// # Errors
    ///
    /// `Fenced` if another claimant took the round over: its response counts.
    /// `Conflict` if `claimant` stored another response.
    fn complete_round(
        &self,
        round: Round,
        claimant: Claimant,
        response: Bytes,
    ) -> BoxFuture<'_, Result<(), Error>>;

    /// Forgets up to `limit` effects and as many rounds whose time is up, and
    /// says how many.
    fn sweep_ledger(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>>;

    /// Makes the id of a new flow from random bits. A store of several shards
    /// writes into it where the flow lives; others return it unchanged.
    fn place_flow(&self, id: FlowId) -> FlowId {
        id
    }
}

/// One effect of one flow.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Effect {
    /// The flow.
    pub flow: FlowId,
    /// The name of the effect within it.
    pub key: Name,
}

impl Effect {
    /// The effect `key` of `flow`.
    pub fn new(flow: FlowId, key: Name) -> Self {
        Self { flow, key }
    }
}

/// One claim of an effect.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct EffectClaim {
    /// Claimant that wants to run it.
    pub claimant: Claimant,
    /// Digests of the answers that led to the effect, as its flow wrote them.
    ///
    /// A store does not look into them. It keeps those of the claim that won
    /// and returns them to every other claim, which compares them with its own.
    pub answers: Bytes,
    /// Time for which the claim is kept: longer than the flow can live.
    pub ttl: Duration,
}

impl EffectClaim {
    /// A claim of an effect that no answer led to.
    pub const fn new(claimant: Claimant, ttl: Duration) -> Self {
        Self {
            claimant,
            answers: Bytes::new(),
            ttl,
        }
    }

    /// The same claim with the answers that led to the effect.
    #[must_use]
    pub fn with_answers(mut self, answers: Bytes) -> Self {
        self.answers = answers;
        self
    }
}

/// The result of claiming an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnceClaim {
    /// Another claimant claimed it and has written no result. The effect may be
    /// running, may have happened or may not have happened: no claimant may run it.
    Ambiguous {
        /// Time since the claim.
        age: Duration,
        /// The answers of the claim that won. Empty if a release that kept
        /// none wrote it.
        answers: Bytes,
    },
    /// It was run.
    Settled {
        /// The result.
        result: Bytes,
        /// The answers of the claim that won. Empty if a release that kept
        /// none wrote it.
        answers: Bytes,
    },
    /// The caller may run it, and is the only one.
    Won,
}

/// One round of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Round {
    /// The flow.
    pub flow: FlowId,
    /// Which of its rounds.
    pub number: u32,
}

impl Round {
    /// The round `number` of `flow`.
    pub const fn new(flow: FlowId, number: u32) -> Self {
        Self { flow, number }
    }
}

/// One arrival of a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoundEntry {
    /// A digest of everything that makes this retry the same as another: the
    /// answers and the request they belong to.
    pub digest: [u8; 32],
    /// Claimant that wants to answer it. Entering again with the same one renews
    /// the lease.
    pub claimant: Claimant,
    /// Time after which another claimant may take over. A zero duration releases
    /// the round immediately.
    pub length: Duration,
    /// Time for which the response is kept.
    pub ttl: Duration,
}

impl RoundEntry {
    /// An arrival that may take half a minute and is remembered for `ttl`.
    pub const fn new(digest: [u8; 32], claimant: Claimant, ttl: Duration) -> Self {
        Self {
            digest,
            claimant,
            length: Duration::from_secs(30),
            ttl,
        }
    }
}

/// The result of entering a round.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RoundClaim {
    /// It was answered: send this again.
    Answered(Bytes),
    /// The same retry is being answered elsewhere, since this long: wait and
    /// ask again.
    Busy {
        /// Since how long.
        age: Duration,
    },
    /// The round was entered with other answers before, and those count.
    Other,
    /// The caller answers it.
    Yours,
}
