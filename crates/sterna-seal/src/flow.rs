//! The flow a token belongs to, over all its rounds.

use std::hash::{DefaultHasher, Hash, Hasher};

use sterna_types::{FlowId, UnixMillis};

use crate::binding::Binding;
use crate::entropy::{Entropy, EntropyError};

/// One piece of work that goes on over several requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Flow {
    /// Its name, the same in every round.
    pub id: FlowId,
    /// Number of tokens it has been given, this one included.
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

/// Draws the id of a flow that begins with the request of `binding`.
///
/// The binding and the time go into the id: two machines whose generators
/// repeat each other (after a fork, or cloned) still give flows of different
/// callers different ids. Every request needs an id and few need a token, so
/// this is a fast hash and not a digest. A caller that finds two requests with
/// the same hash gains nothing: it could as well repeat one request.
///
/// # Errors
///
/// [`EntropyError`] if `entropy` has no bytes.
pub fn mint_flow_id(
    binding: &Binding,
    now: UnixMillis,
    entropy: &mut dyn Entropy,
) -> Result<FlowId, EntropyError> {
    mint(binding.mark(), now, entropy)
}

/// As [`mint_flow_id`], before there is a binding: `request` tells this request
/// from those of other callers.
///
/// # Errors
///
/// [`EntropyError`] if `entropy` has no bytes.
pub fn mint_flow_id_for(
    request: &impl Hash,
    now: UnixMillis,
    entropy: &mut dyn Entropy,
) -> Result<FlowId, EntropyError> {
    let mut mark = DefaultHasher::new();
    request.hash(&mut mark);
    mint(mark.finish(), now, entropy)
}

fn mint(mark: u64, now: UnixMillis, entropy: &mut dyn Entropy) -> Result<FlowId, EntropyError> {
    let mut random = [0; 16];
    entropy.fill(&mut random)?;
    let mark = u128::from(mark) << 64 | u128::from(now.get().unsigned_abs());
    let id = u128::from_be_bytes(random) ^ mark;
    Ok(FlowId::from_bytes(id.to_be_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::tests::Stuck;

    #[test]
    fn ids_differ_by_request_and_time_whatever_the_entropy() {
        for byte in [0, 0x5a, 0xff] {
            let mint = |request: &str, now| {
                mint_flow_id_for(&request, UnixMillis::new(now), &mut Stuck(byte)).unwrap()
            };
            assert_ne!(mint("a", 0), mint("b", 0));
            assert_ne!(mint("a", 0), mint("a", 1));
            assert_eq!(mint("a", 0), mint("a", 0));
        }
    }
}
