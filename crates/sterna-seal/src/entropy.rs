//! Where random bytes come from.

use std::cell::RefCell;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

/// A source of random bytes.
///
/// Everything random in a token or a key is drawn through this trait, so a
/// test decides every bit. Anything but a test hands in [`ThreadEntropy`], or
/// [`OsEntropy`] for a key that will live for months.
pub trait Entropy {
    /// Overwrites `bytes` with bytes that nobody can predict.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if there are none; `bytes` is then not to be used.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), EntropyError>;
}

/// The operating system had no random bytes to give.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[error("the operating system gave no random bytes")]
pub struct EntropyError;

/// Random bytes straight from the operating system, one system call each time.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "its name is its only value")]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        SystemRandom::new().fill(bytes).map_err(|_| EntropyError)
    }
}

/// Random bytes from a generator of this thread, seeded by the operating
/// system and seeded again every few hundred draws.
///
/// A system call for every nonce would cost as much as the rest of a small
/// token. A process that forks, or a virtual machine that is cloned, may draw
/// the same bytes twice until the next seeding; tokens do not depend on it,
/// because their nonce also depends on what they say.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "its name is its only value")]
pub struct ThreadEntropy;

impl Entropy for ThreadEntropy {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        GENERATOR.with_borrow_mut(|slot| {
            let generator = match slot {
                Some(generator) if generator.draws < DRAWS_PER_SEED => generator,
                _ => slot.insert(Generator::seeded()?),
            };
            generator.draws += 1;
            generator.stream.fill_bytes(bytes);
            Ok(())
        })
    }
}

thread_local! {
    static GENERATOR: RefCell<Option<Generator>> = const { RefCell::new(None) };
}

struct Generator {
    stream: ChaCha20Rng,
    draws: u32,
}

impl Generator {
    fn seeded() -> Result<Self, EntropyError> {
        let mut seed = Zeroizing::new([0; 32]);
        OsEntropy.fill(&mut *seed)?;
        Ok(Self {
            stream: ChaCha20Rng::from_seed(*seed),
            draws: 0,
        })
    }
}

/// Spreads one system call over enough draws that it adds about 2 ns to each.
const DRAWS_PER_SEED: u32 = 256;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn draws_differ_also_across_a_new_seed() {
        let mut seen = BTreeSet::new();
        for _ in 0..3 * DRAWS_PER_SEED {
            let mut bytes = [0; 16];
            ThreadEntropy.fill(&mut bytes).unwrap();
            assert!(seen.insert(bytes));
        }
    }
}
