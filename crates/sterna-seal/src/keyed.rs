//! The two keyed functions that a token needs besides its cipher, made of the
//! same AES-256-GCM: processors do it in hardware, where many do not hash.
//!
//! Neither shows what GCM must not show when an IV repeats: the tag of the first
//! and the whole output of the second stay inside the server.

use std::fmt;
use std::hint::black_box;

use ring::aead::LessSafeKey;

use crate::cipher::{self, IV_LEN, KEY_LEN, ONLY_IV, TAG_LEN};

/// A pseudo-random function from twelve bytes to 32: AES-256 in counter mode,
/// as in XAES-256-GCM and AES-GCM-SIV, which derive their keys so.
///
/// As good as a random function up to 2⁶⁴ inputs.
pub(crate) struct KeyStream(LessSafeKey);

impl KeyStream {
    pub(crate) fn new(key: &[u8; KEY_LEN]) -> Self {
        Self(cipher::cipher(key))
    }

    /// The 32 bytes that `input` stands for.
    pub(crate) fn at(&self, input: [u8; IV_LEN]) -> [u8; KEY_LEN] {
        let mut bytes = [0; KEY_LEN];
        // Zeros become the key stream; the tag is not read.
        let _ = cipher::seal(&self.0, input, &[], &mut bytes);
        bytes
    }
}

/// A universal hash: GHASH, with a mask that is always the same one.
///
/// For any two different messages of at most `n` blocks of sixteen bytes, a
/// random secret key gives them one sum with a chance of at most
/// (`n` + 1) · 2⁻¹²⁸. That holds as long as sums stay secret, which they do: they
/// are only written where they are encrypted.
pub(crate) struct SecretSum(LessSafeKey);

impl SecretSum {
    pub(crate) fn new(key: &[u8; KEY_LEN]) -> Self {
        Self(cipher::cipher(key))
    }

    /// The sum of `message`. To be encrypted, or put into a [`KeyStream`].
    pub(crate) fn of(&self, message: &[u8]) -> [u8; TAG_LEN] {
        cipher::seal(&self.0, ONLY_IV, message, &mut [])
    }
}

impl Drop for KeyStream {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl Drop for SecretSum {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// ring wipes nothing itself. Another key written over this one does it, and
/// the black box keeps the compiler from leaving the write out.
fn wipe(key: &mut LessSafeKey) {
    *key = cipher::cipher(&[0; KEY_LEN]);
    black_box(key);
}

impl fmt::Debug for SecretSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretSum(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn a_key_stream_is_aes_in_counter_mode() {
        // Test case 14 of the GCM specification (McGrew and Viega): zeros under
        // a key of zeros give the first block.
        let zeros = KeyStream::new(&[0; KEY_LEN]).at([0; IV_LEN]);
        assert_eq!(hex(&zeros[..16]), "cea7403d4d606b6e074ec5d3baf39d18");
        assert_ne!(zeros[..16], zeros[16..]);
        let other = KeyStream::new(&[0; KEY_LEN]).at([1; IV_LEN]);
        assert_ne!(other, zeros);
    }

    #[test]
    fn a_sum_is_the_tag_of_gcm_without_a_message() {
        // Test case 13 of the same.
        let sum = SecretSum::new(&[0; KEY_LEN]).of(b"");
        assert_eq!(hex(&sum), "530f8afbc74536b9a963b4f1c4cb738b");
    }

    #[test]
    fn every_bit_of_a_message_and_its_length_change_the_sum() {
        let key = SecretSum::new(&[7; KEY_LEN]);
        let mut message = vec![0; 70];
        let sum = key.of(&message);
        assert_ne!(key.of(&[0; 71]), sum);
        assert_ne!(SecretSum::new(&[8; KEY_LEN]).of(&message), sum);
        for bit in 0..message.len() * 8 {
            message[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(key.of(&message), sum, "bit {bit}");
            message[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
