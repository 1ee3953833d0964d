//! The ledger in a file.

use std::sync::Arc;

use bytes::Bytes;
use sterna_store::{
    BoxFuture, Claimant, Effect, EffectClaim, Error, Ledger, OnceClaim, Round, RoundClaim,
    RoundEntry,
};

use crate::SqliteStore;
use crate::rows;
use crate::thread::Durability;

impl Ledger for SqliteStore {
    fn claim_once(
        &self,
        effect: Effect,
        claim: EffectClaim,
    ) -> BoxFuture<'_, Result<OnceClaim, Error>> {
        self.write
            .call(Durability::Machine, move |connection, now| {
                rows::effect::claim(connection, &effect, &claim, now)
            })
    }

    fn settle_once(
        &self,
        effect: Effect,
        claimant: Claimant,
        result: Bytes,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.write
            .call(Durability::Machine, move |connection, now| {
                rows::effect::settle(connection, &effect, claimant, &result, now)
            })
    }

    fn enter_round(
        &self,
        round: Round,
        entry: RoundEntry,
    ) -> BoxFuture<'_, Result<RoundClaim, Error>> {
        let clock = Arc::clone(&self.clock);
        self.write
            .call(Durability::Machine, move |connection, now| {
                let leases = clock.for_leases(now, entry.length);
                rows::round::enter(connection, round, &entry, now, leases)
            })
    }

    fn complete_round(
        &self,
        round: Round,
        claimant: Claimant,
        response: Bytes,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.write
            .call(Durability::Machine, move |connection, now| {
                rows::round::leave(connection, round, claimant, &response, now)
            })
    }

    fn sweep_ledger(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        self.write
            .call(Durability::Process, move |connection, now| {
                rows::effect::sweep(connection, limit, now)
            })
    }
}
