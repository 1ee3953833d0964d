//! What happens to effects and rounds.

use std::time::Duration;

use bytes::Bytes;

use super::room::OVERHEAD;
use super::state::State;
use crate::machine::{EffectRecord, RoundRecord, not_yours};
use crate::{Claimant, Effect, Entered, Error, OnceClaim, Round, RoundEntry, UnixMillis};

impl State {
    pub(super) fn claim_once(
        &mut self,
        effect: Effect,
        claimant: Claimant,
        ttl: Duration,
        now: UnixMillis,
    ) -> Result<OnceClaim, Error> {
        let record = self.effects.get(&effect);
        if let Some(claim) = record.and_then(|record| record.claim(claimant, now)) {
            return Ok(claim);
        }
        self.make_room(OVERHEAD + effect.key.as_str().len(), now)?;
        let record = EffectRecord::won(claimant, ttl, now);
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
    ) -> Result<Entered, Error> {
        if let Some(record) = self.rounds.get_mut(&round) {
            let before = cost_of_round(record);
            let entered = record.enter(entry, now);
            let after = cost_of_round(record);
            self.room.give_back(before - after);
            return Ok(entered);
        }
        self.make_room(OVERHEAD, now)?;
        self.rounds.insert(round, RoundRecord::entered(entry, now));
        Ok(Entered::Yours)
    }

    pub(super) fn leave_round(
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
    OVERHEAD + effect.key.as_str().len() + record.result.as_ref().map_or(0, Bytes::len)
}

fn cost_of_round(record: &RoundRecord) -> usize {
    OVERHEAD + record.response.as_ref().map_or(0, Bytes::len)
}
