//! The most that one caller may hold of a limit that all callers share.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::rate::RateKey;

/// Counts what each caller holds of a limit.
///
/// A caller that holds nothing has no entry, so there are never more entries
/// than the limit has places.
#[derive(Debug)]
pub(super) struct Shares {
    caller: usize,
    address: usize,
    held: Mutex<HashMap<u64, usize>>,
    hasher: RandomState,
}

/// The caller holds as much as one caller may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShareTaken {
    pub(super) limit: usize,
}

impl Shares {
    /// Splits `limit`: one named caller may hold `caller` percent of it, one
    /// address without a name `address` percent, and both at least one.
    pub(super) fn new(limit: usize, caller: u8, address: u8) -> Arc<Self> {
        let part = |percent: u8| {
            let percent = usize::from(percent.min(100));
            // Divided first: a limit may be as large as a number can be.
            let part = limit / 100 * percent + limit % 100 * percent / 100;
            part.max(1)
        };
        Arc::new(Self {
            caller: part(caller),
            address: part(address),
            held: Mutex::default(),
            hasher: RandomState::new(),
        })
    }

    /// Checks that `rate_key` could take one more at this moment.
    pub(super) fn check(&self, rate_key: RateKey<'_>) -> Result<(), ShareTaken> {
        let Some((key, limit)) = self.find(rate_key) else {
            return Ok(());
        };
        match self.held().get(&key) {
            Some(held) if *held >= limit => Err(ShareTaken { limit }),
            _ => Ok(()),
        }
    }

    /// Takes one for `rate_key`. `None` for a caller that no share is counted for.
    pub(super) fn take(
        self: &Arc<Self>,
        rate_key: RateKey<'_>,
    ) -> Result<Option<Share>, ShareTaken> {
        let Some((key, limit)) = self.find(rate_key) else {
            return Ok(None);
        };
        let mut counts = self.held();
        let held = counts.entry(key).or_default();
        if *held >= limit {
            return Err(ShareTaken { limit });
        }
        *held += 1;
        drop(counts);
        let shares = Arc::clone(self);
        Ok(Some(Share { shares, key }))
    }

    /// The entry of `rate_key` and its limit.
    ///
    /// Callers without a name are told apart by their address. On loopback that
    /// is no use: all callers of a proxy on this machine come from there.
    fn find(&self, rate_key: RateKey<'_>) -> Option<(u64, usize)> {
        // A keyed hash: the table holds no name, and no caller can aim for the entry of another.
        match rate_key {
            RateKey::Anonymous(None) => None,
            RateKey::Anonymous(Some(address)) if address.is_loopback() => None,
            RateKey::Anonymous(Some(address)) => {
                Some((self.hasher.hash_one(network(address)), self.address))
            }
            RateKey::Named(principal) => Some((self.hasher.hash_one(principal), self.caller)),
        }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<u64, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One place of a caller's share; given back when dropped.
#[derive(Debug)]
pub(super) struct Share {
    shares: Arc<Shares>,
    key: u64,
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut counts = self.shares.held();
        if let Some(held) = counts.get_mut(&self.key) {
            *held -= 1;
            if *held == 0 {
                counts.remove(&self.key);
            }
        }
    }
}

/// The network that one subscriber has: an IPv4 address, or 64 bits of IPv6.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let bits = address.to_bits() & !u128::from(u64::MAX);
            IpAddr::V6(bits.into())
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Principal;

    #[test]
    fn a_share_is_at_least_one_and_at_most_the_limit() {
        for (limit, percent, expected) in [
            (1, 50, 1),
            (2, 50, 1),
            (3, 50, 1),
            (512, 50, 256),
            (8, 75, 6),
            (10, 0, 1),
            (10, 255, 10),
            (usize::MAX, 100, usize::MAX),
        ] {
            let shares = Shares::new(limit, percent, percent);
            assert_eq!(shares.caller, expected, "{percent} percent of {limit}");
        }
    }

    #[test]
    fn what_is_given_back_is_forgotten() {
        let shares = Shares::new(4, 50, 75);
        let (ada, bob) = (Principal::named("a", "ada"), Principal::named("a", "bob"));
        let (ada, bob) = (RateKey::new(&ada, None), RateKey::new(&bob, None));
        let one = shares.take(ada).unwrap();
        let two = shares.take(ada).unwrap();
        assert_eq!(shares.take(ada).unwrap_err(), ShareTaken { limit: 2 });
        assert_eq!(shares.check(ada), Err(ShareTaken { limit: 2 }));
        assert_eq!(shares.check(bob), Ok(()));
        drop(one);
        assert_eq!(shares.check(ada), Ok(()));
        drop((two, shares.take(bob).unwrap()));
        assert!(shares.held().is_empty());
    }

    #[test]
    fn loopback_and_unknown_addresses_have_no_share_of_their_own() {
        let shares = Shares::new(4, 50, 50);
        let nameless = Principal::anonymous();
        for address in [None, Some("127.0.0.1"), Some("::1")] {
            let address = address.map(|text| text.parse().unwrap());
            assert!(
                shares
                    .take(RateKey::new(&nameless, address))
                    .unwrap()
                    .is_none()
            );
        }
    }

    #[test]
    fn addresses_of_one_network_are_one() {
        let network = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(network("::ffff:10.0.0.1"), "10.0.0.1");
        assert_eq!(network("10.0.0.1"), "10.0.0.1");
    }
}
