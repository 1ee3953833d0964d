//! Sources of random bytes.

use std::cell::RefCell;

use ring::rand::{SecureRandom, SystemRandom};
use zeroize::{Zeroize, Zeroizing};

use crate::cipher::{self, KEY_LEN, ONLY_IV, SingleUseKey};

/// A source of random bytes.
///
/// Everything random in a token or a key is drawn through this trait, so a
/// test decides every bit. Anything but a test hands in [`ThreadEntropy`], or
/// [`OsEntropy`] for a key that will live for months.
pub trait Entropy {
    /// Overwrites `bytes` with unpredictable bytes.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if the source has no random bytes; do not use `bytes` then.
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
/// because their nonce also depends on their contents.
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
            generator.draw(bytes);
            Ok(())
        })
    }
}

thread_local! {
    static GENERATOR: RefCell<Option<Generator>> = const { RefCell::new(None) };
}

/// The key stream of AES-256, with a new key for every pool.
///
/// A pool begins with the key of the next one, and bytes that were given out are
/// wiped: an attacker who reads the memory of the process learns nothing of
/// earlier draws.
struct Generator {
    stream: Zeroizing<[u8; KEY_LEN + POOL]>,
    at: usize,
    draws: u32,
}

impl Generator {
    fn seeded() -> Result<Self, EntropyError> {
        let mut stream = Zeroizing::new([0; KEY_LEN + POOL]);
        OsEntropy.fill(&mut stream[..KEY_LEN])?;
        Ok(Self {
            at: stream.len(),
            stream,
            draws: 0,
        })
    }

    fn draw(&mut self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            if self.at == self.stream.len() {
                self.refill();
            }
            let left = &mut self.stream[self.at..];
            let count = left.len().min(bytes.len());
            let (now, later) = bytes.split_at_mut(count);
            now.copy_from_slice(&left[..count]);
            left[..count].zeroize();
            self.at += count;
            bytes = later;
        }
    }

    fn refill(&mut self) {
        let (key, _) = self
            .stream
            .split_first_chunk()
            .expect("a stream begins with a key");
        let key = Zeroizing::new(*key);
        self.stream.fill(0);
        // Zeros become the key stream; the tag is not read.
        let once = SingleUseKey {
            key: &key,
            iv: ONLY_IV,
        };
        let _ = cipher::encrypt(once, &[], &mut *self.stream);
        self.at = KEY_LEN;
    }
}

/// Enough for twenty tokens, so that setting up the cipher is not felt.
const POOL: usize = 480;

/// Spreads one system call over enough draws that it adds about 2 ns to each.
const DRAWS_PER_SEED: u32 = 256;

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The worst generator there is: the same bytes every time.
    pub(crate) struct Stuck(pub(crate) u8);

    impl Entropy for Stuck {
        fn fill(&mut self, bytes: &mut [u8]) -> Result<(), EntropyError> {
            bytes.fill(self.0);
            Ok(())
        }
    }

    #[test]
    fn a_draw_may_be_longer_than_a_pool_and_leaves_nothing_behind() {
        let mut generator = Generator::seeded().unwrap();
        let mut bytes = [0; 3 * POOL + 5];
        generator.draw(&mut bytes);
        let chunks: BTreeSet<&[u8]> = bytes.chunks_exact(16).collect();
        assert_eq!(chunks.len(), bytes.len() / 16);
        assert_eq!(generator.stream[KEY_LEN..][..5], [0; 5]);
        let (key, _) = generator.stream.split_at(KEY_LEN);
        assert!(!bytes.windows(KEY_LEN).any(|window| window == key));
    }

    #[test]
    fn a_thread_is_seeded_again_every_few_hundred_draws() {
        let draw = || {
            ThreadEntropy.fill(&mut [0; 16]).unwrap();
            GENERATOR.with_borrow(|generator| generator.as_ref().unwrap().draws)
        };
        let fresh = std::thread::spawn(move || {
            for count in (1..=DRAWS_PER_SEED).chain(1..=2) {
                assert_eq!(draw(), count);
            }
        });
        fresh.join().unwrap();
    }

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
