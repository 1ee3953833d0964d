//! AES-256-GCM with a key for each message.
//!
//! A key is used once, so its nonce can be zero; both functions make their
//! cipher from the key's bytes and keep nothing.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

pub(crate) const KEY_LEN: usize = 32;

pub(crate) const TAG_LEN: usize = 16;

/// Encrypts `message` where it stands and returns its tag. No other message
/// may ever be encrypted under this key.
pub(crate) fn encrypt(key: &[u8; KEY_LEN], associated: &[u8], message: &mut [u8]) -> [u8; TAG_LEN] {
    let tag = cipher(key)
        .seal_in_place_separate_tag(zero(), Aad::from(associated), message)
        .expect("a message of ours is far shorter than the 64 GiB AES-GCM takes");
    let mut bytes = [0; TAG_LEN];
    bytes.copy_from_slice(tag.as_ref());
    bytes
}

/// Decrypts a message and the tag behind it where they stand, and returns the
/// message, if the tag is right.
pub(crate) fn decrypt<'a>(
    key: &[u8; KEY_LEN],
    associated: &[u8],
    sealed: &'a mut [u8],
) -> Option<&'a mut [u8]> {
    cipher(key)
        .open_in_place(zero(), Aad::from(associated), sealed)
        .ok()
}

fn cipher(key: &[u8; KEY_LEN]) -> LessSafeKey {
    let key = UnboundKey::new(&AES_256_GCM, key).expect("AES-256 takes 32 bytes");
    LessSafeKey::new(key)
}

fn zero() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}
