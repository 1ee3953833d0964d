//! Randomness that costs nothing in the journal.

use std::fmt;
use std::sync::Arc;

use sterna_types::FlowId;

use crate::fingerprint::{Digest, first_half};
use crate::idempotency::derive;
use crate::key::Key;

/// A random UUID (version 4) that a flow gets again on every replay.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Uuid([u8; 16]);

impl Uuid {
    pub(crate) fn derive(digest: &dyn Digest, flow: &FlowId, key: &Key) -> Self {
        let mut bytes = first_half(derive(digest, flow, "uuid", key));
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Self(bytes)
    }

    /// The sixteen bytes, most significant first.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uuid({self})")
    }
}

/// Randomness that a flow gets again on every replay, at no cost in the journal.
///
/// It comes from the secret flow id and the name it was asked for by, so a
/// client cannot guess it and a replay cannot change it. To feed a generator of
/// the `rand` family, use [`seed`](Self::seed).
pub struct Random {
    digest: Arc<dyn Digest>,
    seed: [u8; 32],
    block: [u8; 32],
    used: usize,
    blocks: u64,
}

impl Random {
    pub(crate) fn derive(digest: Arc<dyn Digest>, flow: &FlowId, key: &Key) -> Self {
        let seed = derive(&*digest, flow, "random", key);
        Self {
            digest,
            seed,
            block: [0; 32],
            used: 32,
            blocks: 0,
        }
    }

    /// A seed for a generator of the author's choice.
    #[must_use]
    pub fn seed(&self) -> [u8; 32] {
        self.digest.digest(&[b"seed", &self.seed])
    }

    /// Fills `bytes`.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.used == self.block.len() {
                let count = self.blocks.to_be_bytes();
                self.block = self.digest.digest(&[b"block", &self.seed, &count]);
                self.blocks += 1;
                self.used = 0;
            }
            *byte = self.block[self.used];
            self.used += 1;
        }
    }

    /// A number, every one as likely as any other.
    #[must_use]
    pub fn number(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_be_bytes(bytes)
    }

    /// A number below `limit`, every one as likely as any other; zero if
    /// `limit` is zero.
    #[must_use]
    pub fn below(&mut self, limit: u64) -> u64 {
        if limit == 0 {
            return 0;
        }
        // Numbers in the last, incomplete stretch would favour small results.
        let fair = u64::MAX - u64::MAX % limit;
        loop {
            let number = self.number();
            if number < fair {
                return number % limit;
            }
        }
    }
}

impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Random(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::tests::sha256;

    fn random(flow: u8, key: &str) -> Random {
        Random::derive(
            Arc::new(sha256),
            &FlowId::from_bytes([flow; 16]),
            &Key::new(key),
        )
    }

    #[test]
    fn a_flow_gets_the_same_numbers_for_a_name_and_others_for_another() {
        let draw = |flow, key: &str| {
            let mut random = random(flow, key);
            std::array::from_fn::<_, 9, _>(|_| random.number())
        };
        assert_eq!(draw(1, "dice"), draw(1, "dice"));
        assert_ne!(draw(1, "dice"), draw(1, "dice#2"));
        assert_ne!(draw(1, "dice"), draw(2, "dice"));
        assert_ne!(random(1, "dice").seed(), random(1, "dice#2").seed());
    }

    #[test]
    fn numbers_below_a_limit_stay_below_it_and_reach_everything() {
        let mut random = random(1, "dice");
        let mut seen = [false; 6];
        for _ in 0..200 {
            seen[usize::try_from(random.below(6)).unwrap()] = true;
        }
        assert_eq!(seen, [true; 6]);
        assert_eq!(random.below(0), 0);
        assert_eq!(random.below(1), 0);
    }

    #[test]
    fn a_uuid_says_that_it_is_random() {
        let uuids = (0..50).map(|flow| {
            let uuid = Uuid::derive(&sha256, &FlowId::from_bytes([flow; 16]), &Key::new("order"));
            assert_eq!(format!("{uuid:?}"), format!("Uuid({uuid})"));
            uuid.to_string()
        });
        let mut variants = BTreeSet::new();
        for text in uuids {
            assert_eq!(text.len(), 36);
            assert_eq!(&text[14..15], "4");
            variants.insert(text[19..20].to_owned());
        }
        assert_eq!(
            variants,
            BTreeSet::from(["8", "9", "a", "b"].map(Into::into))
        );
    }

    #[test]
    fn a_number_that_would_favour_small_results_is_drawn_again() {
        // The first number that is left over, then the last that is not.
        let fair = u64::MAX - u64::MAX % 10;
        let digest = move |_: &[&[u8]]| {
            let numbers = [fair, fair - 1, 0, 0].map(u64::to_be_bytes);
            numbers.concat().try_into().unwrap()
        };
        let flow = FlowId::from_bytes([7; 16]);
        let mut random = Random::derive(Arc::new(digest), &flow, &Key::new("dice"));
        assert_eq!(random.below(10), 9);
    }
}
