//! The flow a token belongs to, over all its rounds.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::binding::Binding;
use crate::entropy::{Entropy, EntropyError};
use crate::time::UnixMillis;

/// One piece of work that goes on over several requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Flow {
    /// Its name, the same in every round.
    pub id: FlowId,
    /// How many tokens it has been given, this one included.
    pub round: u16,
    /// When its first token was issued.
    pub started_at: UnixMillis,
}

impl Flow {
    /// A flow that is about to get its first token.
    pub fn begin(id: FlowId, now: UnixMillis) -> Self {
        Self {
            id,
            round: 1,
            started_at: now,
        }
    }

    /// The same flow, about to get its next token.
    #[must_use]
    pub fn next_round(self) -> Self {
        Self {
            round: self.round.saturating_add(1),
            ..self
        }
    }
}

/// The name of a flow: 128 bits that no other flow has.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FlowId([u8; 16]);

impl FlowId {
    /// Draws the id of a flow that begins with this request.
    ///
    /// The binding and the time go into it: two machines whose generators
    /// repeat each other (after a fork, or cloned) still give the flows of
    /// different callers different names. Every request has an id and few ask
    /// for a token, so this is a quick hash and not a digest: nobody gains
    /// from finding two requests of one mark that could not simply repeat one.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if `entropy` has nothing to give.
    pub fn mint(
        binding: &Binding,
        now: UnixMillis,
        entropy: &mut dyn Entropy,
    ) -> Result<Self, EntropyError> {
        Self::mint_marked(binding.mark(), now, entropy)
    }

    /// As [`mint`](Self::mint), before there is a binding: `request` is what
    /// tells this request from those of other callers.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if `entropy` has nothing to give.
    pub fn mint_for(
        request: &impl Hash,
        now: UnixMillis,
        entropy: &mut dyn Entropy,
    ) -> Result<Self, EntropyError> {
        let mut mark = DefaultHasher::new();
        request.hash(&mut mark);
        Self::mint_marked(mark.finish(), now, entropy)
    }

    fn mint_marked(
        mark: u64,
        now: UnixMillis,
        entropy: &mut dyn Entropy,
    ) -> Result<Self, EntropyError> {
        let mut random = [0; 16];
        entropy.fill(&mut random)?;
        let mark = u128::from(mark) << 64 | u128::from(now.get());
        Ok(Self((u128::from_be_bytes(random) ^ mark).to_be_bytes()))
    }

    /// The id that `bytes` spell.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes of this id.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FlowId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::tests::Stuck;

    #[test]
    fn ids_differ_by_request_and_time_whatever_the_entropy() {
        for byte in [0, 0x5a, 0xff] {
            let mint = |request: &str, now| {
                FlowId::mint_for(&request, UnixMillis::new(now), &mut Stuck(byte)).unwrap()
            };
            assert_ne!(mint("a", 0), mint("b", 0));
            assert_ne!(mint("a", 0), mint("a", 1));
            assert_eq!(mint("a", 0), mint("a", 0));
        }
    }
}
