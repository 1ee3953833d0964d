//! Rate limits: one allowance per caller, in bounded memory.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::clock;
use super::config::{Rate, Rates};
use crate::auth::Principal;

/// Whose allowance is charged.
#[derive(Clone, Copy, Debug)]
pub(super) enum RateKey<'a> {
    Anonymous(Option<IpAddr>),
    Named(&'a Principal),
}

impl<'a> RateKey<'a> {
    /// Anonymous callers share one bucket for each address.
    pub(super) fn new(principal: &'a Principal, address: Option<IpAddr>) -> Self {
        if principal.is_anonymous() {
            Self::Anonymous(address)
        } else {
            Self::Named(principal)
        }
    }
}

/// The allowances of all callers.
#[derive(Debug)]
pub(super) struct RateLimits {
    calls: Pair,
    questions: Pair,
    hasher: RandomState,
}

#[derive(Debug)]
struct Pair {
    anonymous: Option<Buckets>,
    named: Option<Buckets>,
}

impl RateLimits {
    pub(super) fn new(rates: &Rates, start: Instant) -> Self {
        let buckets =
            |rate: Option<Rate>| rate.map(|rate| Buckets::new(rate, rates.remembered, start));
        Self {
            calls: Pair {
                anonymous: buckets(rates.anonymous_calls),
                named: buckets(rates.calls),
            },
            questions: Pair {
                anonymous: buckets(rates.anonymous_questions),
                named: buckets(rates.questions),
            },
            hasher: RandomState::new(),
        }
    }

    /// Takes one call; refused, says how long to wait.
    pub(super) fn charge_call(&self, rate_key: RateKey<'_>, now: Instant) -> Result<(), Duration> {
        self.charge(&self.calls, rate_key, 1, now)
    }

    /// Takes the calls of a batch of `count` messages, of which one has been
    /// taken; refused, says how long to wait before all could be.
    pub(super) fn charge_batch(
        &self,
        rate_key: RateKey<'_>,
        count: u32,
        now: Instant,
    ) -> Result<(), Duration> {
        let more = count.saturating_sub(1);
        if more == 0 {
            return Ok(());
        }
        self.charge(&self.calls, rate_key, more, now)
            .map_err(|wait| {
                wait + self
                    .calls
                    .rate_of(rate_key)
                    .map_or(Duration::ZERO, |rate| rate.each)
            })
    }

    /// The most calls that a caller may make at once; `None` without a rate.
    pub(super) fn call_burst(&self, rate_key: RateKey<'_>) -> Option<u32> {
        self.calls.rate_of(rate_key).map(|rate| rate.burst)
    }

    /// Takes `count` questions; refused, says how long to wait.
    pub(super) fn charge_questions(
        &self,
        rate_key: RateKey<'_>,
        count: u32,
        now: Instant,
    ) -> Result<(), Duration> {
        self.charge(&self.questions, rate_key, count, now)
    }

    fn charge(
        &self,
        pair: &Pair,
        rate_key: RateKey<'_>,
        cost: u32,
        now: Instant,
    ) -> Result<(), Duration> {
        let Some(buckets) = pair.of(rate_key) else {
            return Ok(());
        };
        // A keyed hash: a table of them holds no name, and no caller can aim for the bucket of another.
        let key = match rate_key {
            RateKey::Anonymous(address) => self.hasher.hash_one(address),
            RateKey::Named(principal) => self.hasher.hash_one(principal),
        };
        buckets.charge(key, cost, now)
    }
}

impl Pair {
    fn of(&self, rate_key: RateKey<'_>) -> Option<&Buckets> {
        match rate_key {
            RateKey::Anonymous(_) => self.anonymous.as_ref(),
            RateKey::Named(_) => self.named.as_ref(),
        }
    }

    fn rate_of(&self, rate_key: RateKey<'_>) -> Option<Rate> {
        self.of(rate_key).map(|buckets| buckets.rate)
    }
}

/// Token bucket that all callers share.
#[derive(Debug)]
pub struct TokenBucket(Buckets);

impl TokenBucket {
    /// A full bucket.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        // With no keys remembered, all share one bucket.
        Self(Buckets::new(rate, 0, clock::now()))
    }

    /// Takes one token; `false` if the bucket is empty.
    #[must_use]
    pub fn take(&self, now: Instant) -> bool {
        self.0.charge(0, 1, now).is_ok()
    }
}

/// Token buckets, each kept as the one moment at which it will be full again.
///
/// A bucket that is full is the same as none, so forgetting it loses nothing.
#[derive(Debug)]
struct Buckets {
    rate: Rate,
    /// Nanoseconds in which one token comes back.
    each: u64,
    /// Nanoseconds in which an empty bucket fills.
    depth: u64,
    remembered: usize,
    start: Instant,
    state: Mutex<BucketTable>,
}

#[derive(Debug, Default)]
struct BucketTable {
    full_at: HashMap<u64, u64>,
    /// The one bucket of all who find no room.
    others_full_at: u64,
    swept_at: Option<u64>,
}

impl Buckets {
    fn new(rate: Rate, remembered: usize, start: Instant) -> Self {
        let each = nanos(rate.each);
        Self {
            rate,
            each,
            depth: each.saturating_mul(u64::from(rate.burst)),
            remembered,
            start,
            state: Mutex::default(),
        }
    }

    fn charge(&self, key: u64, cost: u32, now: Instant) -> Result<(), Duration> {
        let now = nanos(now.saturating_duration_since(self.start));
        // What costs more than a full bucket is granted when the bucket is full.
        let cost = self.each.saturating_mul(u64::from(cost)).min(self.depth);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = state.bucket(key, now, self.remembered, self.depth);
        let full_at = (*bucket).max(now).saturating_add(cost);
        match full_at.checked_sub(now.saturating_add(self.depth)) {
            None | Some(0) => {
                *bucket = full_at;
                Ok(())
            }
            Some(wait) => Err(Duration::from_nanos(wait)),
        }
    }
}

impl BucketTable {
    fn bucket(&mut self, key: u64, now: u64, remembered: usize, depth: u64) -> &mut u64 {
        let full = self.full_at.len() >= remembered;
        if full && !self.full_at.contains_key(&key) {
            // One sweep per fill time: an entry needs at most that long to become droppable,
            // so sweeping more often would only cost.
            if self
                .swept_at
                .is_none_or(|at| now >= at.saturating_add(depth))
            {
                self.swept_at = Some(now);
                self.full_at.retain(|_, full_at| *full_at > now);
            }
            if self.full_at.len() >= remembered {
                return &mut self.others_full_at;
            }
        }
        self.full_at.entry(key).or_insert(now)
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock;

    const SECOND: Duration = Duration::from_secs(1);

    fn buckets(burst: u32, remembered: usize) -> (Buckets, Instant) {
        let start = clock::now();
        (
            Buckets::new(Rate::new(burst, SECOND), remembered, start),
            start,
        )
    }

    #[test]
    fn a_burst_is_granted_and_then_one_for_each_interval() {
        let (buckets, start) = buckets(3, 10);
        for _ in 0..3 {
            assert_eq!(buckets.charge(1, 1, start), Ok(()));
        }
        assert_eq!(buckets.charge(1, 1, start), Err(SECOND));
        assert_eq!(buckets.charge(1, 1, start + SECOND / 2), Err(SECOND / 2));
        assert_eq!(buckets.charge(1, 1, start + SECOND), Ok(()));
        assert_eq!(buckets.charge(1, 1, start + SECOND), Err(SECOND));
        assert_eq!(buckets.charge(2, 3, start + SECOND), Ok(()));
    }

    #[test]
    fn a_cost_above_the_burst_takes_the_whole_bucket() {
        let (buckets, start) = buckets(3, 10);
        assert_eq!(buckets.charge(1, 100, start), Ok(()));
        assert_eq!(buckets.charge(1, 1, start), Err(SECOND));
    }

    #[test]
    fn memory_is_bounded_and_those_without_room_share_one_allowance() {
        let (buckets, start) = buckets(1, 2);
        assert_eq!(buckets.charge(1, 1, start), Ok(()));
        assert_eq!(buckets.charge(2, 1, start), Ok(()));
        assert_eq!(buckets.charge(3, 1, start), Ok(()));
        assert_eq!(buckets.charge(4, 1, start), Err(SECOND));
        assert_eq!(buckets.state.lock().unwrap().full_at.len(), 2);
        let later = start + 2 * SECOND;
        assert_eq!(buckets.charge(4, 1, later), Ok(()));
        assert_eq!(buckets.charge(5, 1, later), Ok(()));
        assert_eq!(buckets.state.lock().unwrap().full_at.len(), 2);
    }

    #[test]
    fn a_named_caller_does_not_pay_for_the_anonymous() {
        let rates = Rates {
            calls: Some(Rate::new(1, SECOND)),
            anonymous_calls: Some(Rate::new(1, SECOND)),
            ..Rates::default()
        };
        let start = clock::now();
        let limits = RateLimits::new(&rates, start);
        let (anonymous, ada) = (Principal::anonymous(), Principal::named("a", "b"));
        let home = RateKey::new(&anonymous, Some([127, 0, 0, 1].into()));
        let away = RateKey::new(&anonymous, Some([127, 0, 0, 2].into()));
        let named = RateKey::new(&ada, Some([127, 0, 0, 1].into()));
        for rate_key in [home, away, named] {
            assert_eq!(limits.charge_call(rate_key, start), Ok(()));
            assert_eq!(limits.charge_call(rate_key, start), Err(SECOND));
        }
        assert_eq!(limits.charge_questions(named, 300, start), Ok(()));
        assert!(limits.charge_questions(named, 1, start).is_err());
        assert_eq!(limits.charge_questions(home, 9999, start), Ok(()));
    }

    proptest! {
        /// Within any time, no caller gets more than a burst and what came back.
        #[test]
        fn no_caller_gets_more_than_the_rate_allows(
            steps in prop::collection::vec((0u64..3_000, 1u32..4), 1..60),
        ) {
            let (buckets, start) = buckets(5, 10);
            let mut at = Duration::ZERO;
            let mut granted = 0;
            for (pause, cost) in steps {
                at += Duration::from_millis(pause);
                if let Err(wait) = buckets.charge(7, cost, start + at) {
                    at += wait;
                    prop_assert_eq!(buckets.charge(7, cost, start + at), Ok(()));
                }
                granted += u64::from(cost);
                prop_assert!(granted <= 5 + at.as_secs());
            }
        }
    }
}
