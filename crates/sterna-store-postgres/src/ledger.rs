//! The ledger in a database.

use std::time::Duration;

use bytes::Bytes;
use sterna_store::{
    BoxFuture, Claimant, Effect, Entered, Error, Ledger, OnceClaim, Round, RoundEntry,
};

use crate::PostgresStore;
use crate::rows::effect::{ClaimOnce, SettleOnce, SweepLedger};
use crate::rows::round::{EnterRound, LeaveRound};

impl Ledger for PostgresStore {
    fn claim_once(
        &self,
        effect: Effect,
        claimant: Claimant,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<OnceClaim, Error>> {
        self.run(ClaimOnce {
            effect,
            claimant,
            ttl,
        })
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
    ) -> BoxFuture<'_, Result<Entered, Error>> {
        self.run(EnterRound { round, entry })
    }

    fn leave_round(
        &self,
        round: Round,
        claimant: Claimant,
        response: Bytes,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.run(LeaveRound {
            round,
            claimant,
            response,
        })
    }

    fn sweep_ledger(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        self.run(SweepLedger { limit })
    }
}
