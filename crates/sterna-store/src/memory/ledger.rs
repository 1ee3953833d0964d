//! Effects, rounds and blobs of the store in memory.

use std::time::Duration;

use bytes::Bytes;

use super::state::State;
use super::usage::OVERHEAD;
use crate::machine::{EffectRecord, RoundRecord, not_yours};
use crate::{
    BlobId, Claimant, Effect, EffectClaim, Error, ErrorKind, OnceClaim, Round, RoundClaim,
    RoundEntry, UnixMillis,
};

impl State {
    pub(super) fn claim_once(
        &mut self,
        effect: Effect,
        claim: EffectClaim,
        now: UnixMillis,
    ) -> Result<OnceClaim, Error> {
        let record = self.effects.get(&effect);
        if let Some(claimed) = record.and_then(|record| record.claim(claim.claimant, now)) {
            return Ok(claimed);
        }
        let record = EffectRecord::won(claim, now);
        self.make_room(cost_of_effect(&effect, &record), now)?;
        if let Some(expired) = self.effects.insert(effect.clone(), record) {
            self.room.give_back(cost_of_effect(&effect, &expired));
        }
        Ok(OnceClaim::Won)
    }

    pub(super) fn settle_once(
        &mut self,
        effect: &Effect,
        claimant: Claimant,
        result: Bytes,
        now: UnixMillis,
    ) -> Result<(), Error> {
        let record = self.effects.get(effect).ok_or_else(not_yours)?;
        if record.settle(claimant, &result, now)? {
            self.make_room(result.len(), now)?;
            let record = self.effects.get_mut(effect).ok_or_else(not_yours)?;
            record.result = Some(result);
        }
        Ok(())
    }

    pub(super) fn enter_round(
        &mut self,
        round: Round,
        entry: &RoundEntry,
        now: UnixMillis,
    ) -> Result<RoundClaim, Error> {
        if let Some(record) = self.rounds.get_mut(&round) {
            let before = cost_of_round(record);
            let entered = record.enter(entry, now);
            let after = cost_of_round(record);
            self.room.give_back(before - after);
            return Ok(entered);
        }
        self.make_room(OVERHEAD, now)?;
        self.rounds.insert(round, RoundRecord::entered(entry, now));
        Ok(RoundClaim::Yours)
    }

    pub(super) fn complete_round(
        &mut self,
        round: Round,
        claimant: Claimant,
        response: Bytes,
        now: UnixMillis,
    ) -> Result<(), Error> {
        let record = self.rounds.get(&round).ok_or_else(not_yours)?;
        if record.leave(claimant, &response, now)? {
            self.make_room(response.len(), now)?;
            let record = self.rounds.get_mut(&round).ok_or_else(not_yours)?;
            record.response = Some(response);
        }
        Ok(())
    }

    pub(super) fn sweep_ledger(&mut self, limit: u32, now: UnixMillis) -> u32 {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let Self {
            effects,
            rounds,
            room,
            ..
        } = self;
        let swept_effects = effects
            .extract_if(.., |_, record| record.expires_at <= now)
            .take(limit)
            .map(|(effect, record)| room.give_back(cost_of_effect(&effect, &record)))
            .count();
        let swept_rounds = rounds
            .extract_if(.., |_, record| record.expires_at <= now)
            .take(limit)
            .map(|(_, record)| room.give_back(cost_of_round(&record)))
            .count();
        u32::try_from(swept_effects + swept_rounds).unwrap_or(u32::MAX)
    }
}

fn cost_of_effect(effect: &Effect, record: &EffectRecord) -> usize {
    let result = record.result.as_ref().map_or(0, Bytes::len);
    OVERHEAD + effect.key.as_str().len() + record.answers.len() + result
}

fn cost_of_round(record: &RoundRecord) -> usize {
    OVERHEAD + record.response.as_ref().map_or(0, Bytes::len)
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Blob {
    value: Bytes,
    pub(super) expires_at: UnixMillis,
}

impl State {
    pub(super) fn put_blob(
        &mut self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
        now: UnixMillis,
    ) -> Result<(), Error> {
        let expires_at = now + ttl;
        if let Some(blob) = self.blobs.get_mut(&id)
            && now < blob.expires_at
        {
            if blob.value != value {
                return Err(Error::new(ErrorKind::Conflict, "the blob id is taken"));
            }
            blob.expires_at = expires_at;
            return Ok(());
        }
        self.make_room(OVERHEAD + value.len(), now)?;
        let blob = Blob { value, expires_at };
        if let Some(expired) = self.blobs.insert(id, blob) {
            self.room.give_back(OVERHEAD + expired.value.len());
        }
        Ok(())
    }

    pub(super) fn blob(&self, id: BlobId, now: UnixMillis) -> Option<Bytes> {
        let blob = self.blobs.get(&id).filter(|blob| now < blob.expires_at)?;
        Some(blob.value.clone())
    }

    pub(super) fn sweep_blobs(&mut self, limit: u32, now: UnixMillis) -> u32 {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let Self { blobs, room, .. } = self;
        let swept = blobs
            .extract_if(.., |_, blob| blob.expires_at <= now)
            .take(limit)
            .map(|(_, blob)| room.give_back(OVERHEAD + blob.value.len()))
            .count();
        u32::try_from(swept).unwrap_or(u32::MAX)
    }
}
