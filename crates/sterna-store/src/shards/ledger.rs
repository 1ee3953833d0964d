//! The ledger and blobs on several shards.

use std::time::Duration;

use bytes::Bytes;

use super::set::Shards;
use crate::{
    BlobId, Blobs, BoxFuture, Claimant, Effect, EffectClaim, Error, FlowId, Ledger, OnceClaim,
    Round, RoundClaim, RoundEntry,
};

impl Ledger for Shards {
    fn claim_once(
        &self,
        effect: Effect,
        claim: EffectClaim,
    ) -> BoxFuture<'_, Result<OnceClaim, Error>> {
        self.on(self.rings.of_flow(effect.flow), |store| {
            store.claim_once(effect, claim)
        })
    }

    fn settle_once(
        &self,
        effect: Effect,
        claimant: Claimant,
        result: Bytes,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.on(self.rings.of_flow(effect.flow), move |store| {
            store.settle_once(effect, claimant, result)
        })
    }

    fn enter_round(
        &self,
        round: Round,
        entry: RoundEntry,
    ) -> BoxFuture<'_, Result<RoundClaim, Error>> {
        self.on(self.rings.of_flow(round.flow), move |store| {
            store.enter_round(round, entry)
        })
    }

    fn complete_round(
        &self,
        round: Round,
        claimant: Claimant,
        response: Bytes,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.on(self.rings.of_flow(round.flow), move |store| {
            store.complete_round(round, claimant, response)
        })
    }

    fn sweep_ledger(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        Box::pin(self.sweep(
            limit,
            |store, left| store.sweep_ledger(left),
            |swept| *swept,
            u32::saturating_add,
        ))
    }

    fn place_flow(&self, id: FlowId) -> FlowId {
        FlowId::from_bytes(self.rings.mark(*id.as_bytes()))
    }
}

impl Blobs for Shards {
    fn put_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.on(Ok(self.rings.of_blob(id.as_bytes())), move |store| {
            store.put_blob(id, value, ttl)
        })
    }

    fn post_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.on(Ok(self.rings.of_blob(id.as_bytes())), move |store| {
            store.post_blob(id, value, ttl)
        })
    }

    fn blob(&self, id: BlobId) -> BoxFuture<'_, Result<Option<Bytes>, Error>> {
        self.on(Ok(self.rings.of_blob(id.as_bytes())), move |store| {
            store.blob(id)
        })
    }

    fn sweep_blobs(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        Box::pin(self.sweep(
            limit,
            |store, left| store.sweep_blobs(left),
            |swept| *swept,
            u32::saturating_add,
        ))
    }

    fn probe(&self) -> BoxFuture<'_, Result<Vec<String>, Error>> {
        Box::pin(async move {
            let looked = self.all(|_, shard| shard.look()).await;
            match looked.into_iter().reduce(Result::or) {
                Some(Err(error)) => Err(error),
                _ => Ok(self.silent()),
            }
        })
    }
}
