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
pub(crate) enum Payer<'a> {
    Anonymous(Option<IpAddr>),
    Named(&'a Principal),
}

impl<'a> Payer<'a> {
    /// Who has no name pays as whoever calls from the same address.
    pub(crate) fn new(principal: &'a Principal, address: Option<IpAddr>) -> Self {
        if principal.is_anonymous() {
            Self::Anonymous(address)
        } else {
            Self::Named(principal)
        }
    }
}

/// The allowances of all callers.
#[derive(Debug)]
pub(crate) struct RateLimits {
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
    pub(crate) fn new(rates: &Rates, start: Instant) -> Self {
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
    pub(crate) fn charge_call(&self, payer: Payer<'_>, now: Instant) -> Result<(), Duration> {
        self.charge(&self.calls, payer, 1, now)
    }

    /// Takes `count` questions; refused, says how long to wait.
    pub(crate) fn charge_questions(
        &self,
        payer: Payer<'_>,
        count: u32,
        now: Instant,
    ) -> Result<(), Duration> {
        self.charge(&self.questions, payer, count, now)
    }

    fn charge(
        &self,
        pair: &Pair,
        payer: Payer<'_>,
        cost: u32,
        now: Instant,
    ) -> Result<(), Duration> {
        let buckets = match payer {
            Payer::Anonymous(_) => &pair.anonymous,
            Payer::Named(_) => &pair.named,
        };
        let Some(buckets) = buckets else {
            return Ok(());
        };
        // A keyed hash: a table of them holds no name, and nobody can aim for another's.
        let key = match payer {
            Payer::Anonymous(address) => self.hasher.hash_one(address),
            Payer::Named(principal) => self.hasher.hash_one(principal),
        };
        buckets.charge(key, cost, now)
    }
}

/// One allowance, whoever it is that takes from it.
#[derive(Debug)]
pub(crate) struct Allowance(Buckets);

impl Allowance {
    pub(crate) fn new(rate: Rate) -> Self {
        // Nobody is remembered, so all share one bucket.
        Self(Buckets::new(rate, 0, clock::now()))
    }

    /// Takes one, if there is one.
    pub(crate) fn take(&self, now: Instant) -> bool {
        self.0.charge(0, 1, now).is_ok()
    }
}

/// Token buckets, each kept as the one moment at which it will be full again.
///
/// A bucket that is full is the same as none, so forgetting it loses nothing.
#[derive(Debug)]
struct Buckets {
    /// Nanoseconds in which one token comes back.
    each: u64,
    /// Nanoseconds in which an empty bucket fills.
    depth: u64,
    remembered: usize,
    start: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    full_at: HashMap<u64, u64>,
    /// The one bucket of all who find no room.
    others_full_at: u64,
    swept_at: Option<u64>,
}

impl Buckets {
    fn new(rate: Rate, remembered: usize, start: Instant) -> Self {
        let each = nanos(rate.each);
        Self {
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

impl State {
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
    use crate::edge::clock;

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
    fn nobody_named_pays_for_the_anonymous() {
        let rates = Rates {
            calls: Some(Rate::new(1, SECOND)),
            anonymous_calls: Some(Rate::new(1, SECOND)),
            ..Rates::default()
        };
        let start = clock::now();
        let limits = RateLimits::new(&rates, start);
        let (nobody, somebody) = (Principal::anonymous(), Principal::named("a", "b"));
        let home = Payer::new(&nobody, Some([127, 0, 0, 1].into()));
        let away = Payer::new(&nobody, Some([127, 0, 0, 2].into()));
        let named = Payer::new(&somebody, Some([127, 0, 0, 1].into()));
        for payer in [home, away, named] {
            assert_eq!(limits.charge_call(payer, start), Ok(()));
            assert_eq!(limits.charge_call(payer, start), Err(SECOND));
        }
        assert_eq!(limits.charge_questions(named, 300, start), Ok(()));
        assert!(limits.charge_questions(named, 1, start).is_err());
        assert_eq!(limits.charge_questions(home, 9999, start), Ok(()));
    }

    proptest! {
        /// Within any time, no caller gets more than a burst and what came back.
        #[test]
        fn nobody_gets_more_than_the_rate_allows(
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
