//! The ledger and the blobs in a file.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sterna_store::{
    BlobId, Blobs, BoxFuture, Claimant, Effect, EffectClaim, Error, Ledger, OnceClaim, Round,
    RoundClaim, RoundEntry,
};

use crate::thread::Durability;
use crate::{SqliteStore, rows};

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

impl Blobs for SqliteStore {
    fn put_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.write
            .call(Durability::Machine, move |connection, now| {
                rows::blob::put(connection, id, &value, ttl, now)
            })
    }

    fn post_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            self.put_blob(id, value, ttl).await?;
            self.wakeups.send_for_blob(id);
            Ok(())
        })
    }

    fn blob(&self, id: BlobId) -> BoxFuture<'_, Result<Option<Bytes>, Error>> {
        self.read.call(Durability::Process, move |connection, now| {
            rows::blob::read(connection, id, now)
        })
    }

    fn sweep_blobs(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        self.write
            .call(Durability::Process, move |connection, now| {
                rows::blob::sweep(connection, limit, now)
            })
    }
}
