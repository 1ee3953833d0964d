//! The ledger and the blobs in a database.

use std::time::Duration;

use bytes::Bytes;
use sterna_store::{
    BlobId, Blobs, BoxFuture, Claimant, Effect, EffectClaim, Error, Ledger, OnceClaim, Round,
    RoundClaim, RoundEntry,
};

use crate::PostgresStore;
use crate::rows::blob::{PostBlob, PutBlob, ReadBlob, SweepBlobs};
use crate::rows::effect::{ClaimOnce, SettleOnce, SweepLedger};
use crate::rows::round::{CompleteRound, EnterRound};

impl Ledger for PostgresStore {
    fn claim_once(
        &self,
        effect: Effect,
        claim: EffectClaim,
    ) -> BoxFuture<'_, Result<OnceClaim, Error>> {
        Box::pin(async move {
            self.may_claim_effects()?;
            self.run(ClaimOnce { effect, claim }).await
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

impl Blobs for PostgresStore {
    fn put_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.run(PutBlob { id, value, ttl })
    }

    fn post_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        let put = PutBlob { id, value, ttl };
        let channel = self.schema().as_str().to_owned();
        Box::pin(async move {
            self.run(PostBlob { put, channel }).await?;
            self.wakeups.send_for_blob(id);
            Ok(())
        })
    }

    fn blob(&self, id: BlobId) -> BoxFuture<'_, Result<Option<Bytes>, Error>> {
        self.run(ReadBlob { id })
    }

    fn sweep_blobs(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        self.run(SweepBlobs { limit })
    }
}
