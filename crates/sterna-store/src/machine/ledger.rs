//! The rules for effects and rounds: which claimant may run or answer them.

use bytes::Bytes;

use crate::{
    Claimant, EffectClaim, Error, ErrorKind, OnceClaim, RoundClaim, RoundEntry, UnixMillis,
};

/// An effect that a claimant has claimed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct EffectRecord {
    /// The claimant.
    pub claimant: Claimant,
    /// Time of the claim.
    pub claimed_at: UnixMillis,
    /// Time at which it is forgotten.
    pub expires_at: UnixMillis,
    /// The answers that led to it. Empty if a release that kept none wrote it.
    pub answers: Bytes,
    /// The result, once it is known.
    pub result: Option<Bytes>,
}

impl EffectRecord {
    /// The record of a claim that wins.
    pub fn won(claim: EffectClaim, now: UnixMillis) -> Self {
        Self {
            claimant: claim.claimant,
            claimed_at: now,
            expires_at: now + claim.ttl,
            answers: claim.answers,
            result: None,
        }
    }

    /// The result of another claim. `None` if this record has expired, so that the
    /// claim wins.
    pub fn claim(&self, claimant: Claimant, now: UnixMillis) -> Option<OnceClaim> {
        if self.expires_at <= now {
            return None;
        }
        Some(match &self.result {
            Some(result) => OnceClaim::Settled {
                result: result.clone(),
                answers: self.answers.clone(),
            },
            None if self.claimant == claimant => OnceClaim::Won,
            None => OnceClaim::Ambiguous {
                age: now - self.claimed_at,
                answers: self.answers.clone(),
            },
        })
    }

    /// Returns whether `result` has to be written.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Fenced`] if another claimant holds the claim,
    /// [`ErrorKind::Conflict`] if another result was written.
    pub fn settle(
        &self,
        claimant: Claimant,
        result: &Bytes,
        now: UnixMillis,
    ) -> Result<bool, Error> {
        let theirs = self.claimant == claimant && now < self.expires_at;
        must_write(theirs, self.result.as_ref(), result)
    }
}

/// A round that a claimant has entered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RoundRecord {
    /// Digest of the answers and the request: equal for repeats of one retry.
    pub digest: [u8; 32],
    /// The claimant that answers it.
    pub claimant: Claimant,
    /// Time of the first entry.
    pub entered_at: UnixMillis,
    /// Time at which another claimant may take over.
    pub lease_until: UnixMillis,
    /// Time at which it is forgotten.
    pub expires_at: UnixMillis,
    /// The response, once there is one.
    pub response: Option<Bytes>,
}

impl RoundRecord {
    /// The record of an arrival that may answer the round.
    pub fn entered(entry: &RoundEntry, now: UnixMillis) -> Self {
        Self {
            digest: entry.digest,
            claimant: entry.claimant,
            entered_at: now,
            lease_until: now + entry.length,
            expires_at: now + entry.ttl,
            response: None,
        }
    }

    /// The result of another arrival. On [`RoundClaim::Yours`] the record has changed
    /// and must be written.
    pub fn enter(&mut self, entry: &RoundEntry, now: UnixMillis) -> RoundClaim {
        if self.expires_at <= now {
            *self = Self::entered(entry, now);
            return RoundClaim::Yours;
        }
        if self.digest != entry.digest {
            return RoundClaim::Other;
        }
        if let Some(response) = &self.response {
            return RoundClaim::Answered(response.clone());
        }
        let since = self.entered_at;
        if self.claimant == entry.claimant {
            *self = Self::entered(entry, now);
            self.entered_at = since;
            RoundClaim::Yours
        } else if self.lease_until <= now {
            *self = Self::entered(entry, now);
            RoundClaim::Yours
        } else {
            RoundClaim::Busy { age: now - since }
        }
    }

    /// Returns whether `response` has to be written.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Fenced`] if another claimant answers the round,
    /// [`ErrorKind::Conflict`] if another response was written.
    pub fn leave(
        &self,
        claimant: Claimant,
        response: &Bytes,
        now: UnixMillis,
    ) -> Result<bool, Error> {
        let theirs = self.claimant == claimant && now < self.expires_at;
        must_write(theirs, self.response.as_ref(), response)
    }
}

/// The refusal of a result for a claim that is not the caller's, or of which
/// there is no record at all.
pub fn not_yours() -> Error {
    Error::new(
        ErrorKind::Fenced,
        "another claimant holds the claim, or it has expired",
    )
}

fn must_write(theirs: bool, before: Option<&Bytes>, value: &Bytes) -> Result<bool, Error> {
    match before {
        _ if !theirs => Err(not_yours()),
        None => Ok(true),
        Some(before) if before == value => Ok(false),
        Some(_) => Err(Error::new(
            ErrorKind::Conflict,
            "another result was recorded before",
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const TTL: Duration = Duration::from_millis(9);

    fn at(millis: i64) -> UnixMillis {
        UnixMillis::new(millis)
    }

    #[test]
    fn a_claim_is_lost_at_the_moment_in_which_another_may_win_it() {
        let (first, second) = (Claimant::from_bytes([1; 16]), Claimant::from_bytes([2; 16]));
        let record = EffectRecord::won(EffectClaim::new(first, TTL), at(0));
        let result = Bytes::new();
        assert!(record.claim(second, at(8)).is_some());
        assert!(record.settle(first, &result, at(8)).unwrap());
        assert_eq!(record.claim(second, at(9)), None);
        let late = record.settle(first, &result, at(9)).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::Fenced);
    }

    #[test]
    fn a_round_is_lost_at_the_moment_in_which_it_is_forgotten() {
        let claimant = Claimant::from_bytes([1; 16]);
        let mut record = RoundRecord::entered(&RoundEntry::new([0; 32], claimant, TTL), at(0));
        let response = Bytes::new();
        assert!(record.leave(claimant, &response, at(8)).unwrap());
        let late = record.leave(claimant, &response, at(9)).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::Fenced);
        let other = RoundEntry::new([1; 32], claimant, TTL);
        assert_eq!(record.enter(&other, at(8)), RoundClaim::Other);
        assert_eq!(record.enter(&other, at(9)), RoundClaim::Yours);
    }
}
