//! The ledger in a file.

use std::time::Duration;

use bytes::Bytes;
use sterna_store::{
    BoxFuture, Claimant, Effect, Entered, Error, Ledger, OnceClaim, Round, RoundEntry,
};

use crate::SqliteStore;
use crate::rows;
use crate::thread::Durability;

impl Ledger for SqliteStore {
    fn claim_once(
        &self,
        effect: Effect,
        claimant: Claimant,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<OnceClaim, Error>> {
        self.write
            .call(Durability::Machine, move |connection, now| {
                rows::effect::claim(connection, &effect, claimant, ttl, now)
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
    ) -> BoxFuture<'_, Result<Entered, Error>> {
        self.write
            .call(Durability::Machine, move |connection, now| {
                rows::round::enter(connection, round, &entry, now)
            })
    }

    fn leave_round(
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
