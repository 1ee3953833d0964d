//! The ledger in a database.

use bytes::Bytes;
use sterna_store::{
    BoxFuture, Claimant, Effect, EffectClaim, Error, Ledger, OnceClaim, Round, RoundClaim,
    RoundEntry,
};

use crate::PostgresStore;
use crate::rows::effect::{ClaimOnce, SettleOnce, SweepLedger};
use crate::rows::round::{CompleteRound, EnterRound};

impl Ledger for PostgresStore {
    fn claim_once(
        &self,
        effect: Effect,
        claim: EffectClaim,
    ) -> BoxFuture<'_, Result<OnceClaim, Error>> {
        self.run(ClaimOnce { effect, claim })
    }

    fn settle_once(
        &self,
        effect: Effect,
        claimant: Claimant,
        result: Bytes,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.run(SettleOnce {
            effect,
            claimant,
            result,
        })
    }

    fn enter_round(
        &self,
        round: Round,
        entry: RoundEntry,
    ) -> BoxFuture<'_, Result<RoundClaim, Error>> {
        self.run(EnterRound { round, entry })
    }

    fn complete_round(
        &self,
        round: Round,
        claimant: Claimant,
        response: Bytes,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.run(CompleteRound {
            round,
            claimant,
            response,
        })
    }

    fn sweep_ledger(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        self.run(SweepLedger { limit })
    }
}
