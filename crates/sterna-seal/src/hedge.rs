//! Nonces that do not repeat even if the random generator does.
//!
//! Two tokens under one nonce would share their key stream, and a client with
//! both could read and forge. So a nonce is random bytes with a mask over them
//! that depends on a secret, on those bytes *and* on everything the token says:
//! after a fork or from a cloned virtual machine, equal random bytes meet
//! different contents and give different nonces; equal contents give the same
//! token, which is harmless. As long as the random bytes are random, nonces are
//! too: a pseudo-random mask over random bytes does not make them collide.
//!
//! The contents are shrunk first with NH, the universal hash of UMAC and VMAC
//! (Black, Halevi, Krawczyk, Krovetz, Rogaway, CRYPTO '99) over 64-bit words:
//! for any two different contents of one length, a random secret key makes them
//! collide with a chance of at most 2⁻⁶⁴. Twelve bytes of a sum of the results
//! choose the mask from a key stream, which shows nothing of them.

use zeroize::Zeroizing;

use crate::binding::DIGEST_LEN;
use crate::cipher::IV_LEN;
use crate::entropy::{Entropy, EntropyError};
use crate::keyed::{KeyStream, SecretSum};

pub(crate) const NONCE_LEN: usize = 2 * IV_LEN;

/// The secrets from which nonces are drawn.
pub(crate) struct HedgeKey {
    sum: SecretSum,
    masks: KeyStream,
    /// The key of NH: words for a realm, then words for a block of contents.
    words: Zeroizing<Box<[[u64; 2]]>>,
}

impl HedgeKey {
    /// `fill` gives secret bytes for a purpose.
    pub(crate) fn new(fill: impl Fn(&str, &mut [u8])) -> Self {
        let secret = |purpose| {
            let mut bytes = Zeroizing::new([0; 32]);
            fill(purpose, &mut *bytes);
            bytes
        };
        let mut bytes = Zeroizing::new([0; 16 * (REALM_PAIRS + BLOCK_PAIRS)]);
        fill("hedge", &mut *bytes);
        let (pairs, _) = bytes.as_chunks();
        let words = Zeroizing::new(pairs.iter().map(words).collect());
        Self {
            sum: SecretSum::new(&secret("nonce sum")),
            masks: KeyStream::new(&secret("nonce")),
            words,
        }
    }

    /// Draws the nonce for a token of this realm and this plaintext.
    pub(crate) fn draw_nonce(
        &self,
        realm: &[u8; DIGEST_LEN],
        plaintext: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<[u8; NONCE_LEN], EntropyError> {
        let (pairs, rest) = plaintext.as_chunks();
        let mut nonce = [0; NONCE_LEN];
        entropy.fill(&mut nonce)?;
        let blocks = pairs.len().div_ceil(BLOCK_PAIRS);
        let mut shrunk = Vec::with_capacity(NONCE_LEN + 8 + 16 * blocks + rest.len());
        shrunk.extend_from_slice(&nonce);
        shrunk.extend_from_slice(&(plaintext.len() as u64).to_le_bytes());
        for block in self.shrink(realm, pairs) {
            shrunk.extend_from_slice(&block);
        }
        shrunk.extend_from_slice(rest);
        let [chosen @ .., _, _, _, _] = self.sum.of(&shrunk);
        for (byte, mask) in nonce.iter_mut().zip(self.masks.at(chosen)) {
            *byte ^= mask;
        }
        Ok(nonce)
    }

    /// Sixteen bytes for every block of `pairs`, the first of which also stands
    /// for `realm`.
    fn shrink(
        &self,
        realm: &[u8; DIGEST_LEN],
        pairs: &[[u8; 16]],
    ) -> impl Iterator<Item = [u8; 16]> {
        let (realm_key, block_key) = self.words.split_at(REALM_PAIRS);
        let mut realm_sum = sum_of_products(realm.as_chunks().0, realm_key);
        pairs.chunks(BLOCK_PAIRS).map(move |block| {
            let sum = std::mem::take(&mut realm_sum);
            let sum = sum.wrapping_add(sum_of_products(block, block_key));
            sum.to_le_bytes()
        })
    }
}

fn sum_of_products(pairs: &[[u8; 16]], key: &[[u64; 2]]) -> u128 {
    // Groups of a fixed size are unrolled, which saves a quarter of the time.
    let (groups, rest) = pairs.as_chunks::<8>();
    let (key_groups, _) = key.as_chunks::<8>();
    let mut sum = 0_u128;
    for (group, key) in groups.iter().zip(key_groups) {
        for (pair, key) in group.iter().zip(key) {
            sum = sum.wrapping_add(product(pair, key));
        }
    }
    for (pair, key) in rest.iter().zip(&key[groups.len() * 8..]) {
        sum = sum.wrapping_add(product(pair, key));
    }
    sum
}

fn product(pair: &[u8; 16], key: &[u64; 2]) -> u128 {
    let [a, b] = words(pair);
    u128::from(a.wrapping_add(key[0])) * u128::from(b.wrapping_add(key[1]))
}

fn words(pair: &[u8; 16]) -> [u64; 2] {
    let pair = u128::from_le_bytes(*pair);
    let low = u64::try_from(pair & u128::from(u64::MAX)).expect("masked to 64 bits");
    let high = u64::try_from(pair >> 64).expect("shifted to 64 bits");
    [low, high]
}

const REALM_PAIRS: usize = DIGEST_LEN / 16;

/// 4 KiB of key: at 64 KiB of input, 256 bytes are left to be summed up.
const BLOCK_PAIRS: usize = 256;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::entropy::tests::Stuck;
    use crate::secret::SecretKey;
    use crate::subkeys::Subkeys;

    fn keys() -> Arc<Subkeys> {
        Subkeys::derive(&SecretKey::from_bytes(&b"0123456789abcdef".repeat(2)).unwrap())
    }

    fn nonce(keys: &Subkeys, realm: u8, plaintext: &[u8]) -> [u8; NONCE_LEN] {
        keys.hedge()
            .draw_nonce(&[realm; DIGEST_LEN], plaintext, &mut Stuck(7))
            .unwrap()
    }

    #[test]
    fn the_contents_change_the_nonce_wherever_the_generator_is_stuck() {
        let keys = keys();
        for byte in [0, 0xff] {
            let [first, second] = [b"a", b"b"].map(|plaintext| {
                let realm = [1; DIGEST_LEN];
                keys.hedge()
                    .draw_nonce(&realm, plaintext, &mut Stuck(byte))
                    .unwrap()
            });
            assert_ne!(first, second, "{byte}");
        }
    }

    #[test]
    fn with_a_stuck_generator_every_bit_of_the_contents_changes_the_nonce() {
        let keys = keys();
        let mut plaintext = vec![0; 183];
        let first = nonce(&keys, 1, &plaintext);
        assert_eq!(nonce(&keys, 1, &plaintext), first);
        assert_ne!(nonce(&keys, 2, &plaintext), first);
        assert_ne!(nonce(&keys, 1, &[0; 184]), first);
        for bit in 0..plaintext.len() * 8 {
            plaintext[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(nonce(&keys, 1, &plaintext), first, "bit {bit}");
            plaintext[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn with_a_stuck_generator_contents_that_change_places_change_the_nonce() {
        let keys = keys();
        let plaintext: Vec<u8> = (0..17 * 16)
            .map(|at| u8::try_from(at / 16).unwrap())
            .collect();
        let first = nonce(&keys, 1, &plaintext);
        for at in 0..16 {
            let mut swapped = plaintext.clone();
            swapped.copy_within(at * 16..(at + 1) * 16, 16 * 16);
            swapped[at * 16..(at + 1) * 16].fill(16);
            assert_ne!(nonce(&keys, 1, &swapped), first, "{at}");
        }
    }

    #[test]
    fn with_a_stuck_generator_every_block_of_large_contents_changes_the_nonce() {
        let keys = keys();
        let mut plaintext = vec![3; 67_568];
        let mut seen = std::collections::BTreeSet::from([nonce(&keys, 0, &plaintext)]);
        for at in (0..plaintext.len()).step_by(1021) {
            plaintext[at] ^= 0x80;
            assert!(seen.insert(nonce(&keys, 0, &plaintext)), "byte {at}");
            plaintext[at] ^= 0x80;
        }
    }
}
