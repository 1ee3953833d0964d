//! AES-256-GCM with a key for each message.
//!
//! Both functions make their cipher from the key's bytes and keep nothing.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

pub(crate) const KEY_LEN: usize = 32;

pub(crate) const IV_LEN: usize = 12;

pub(crate) const TAG_LEN: usize = 16;

/// The IV of a key that is used once. The message does not matter.
pub(crate) const ONLY_IV: [u8; IV_LEN] = [0; IV_LEN];

/// A key, and where its key stream begins. Together they are used once.
#[derive(Clone, Copy)]
pub(crate) struct SingleUseKey<'a> {
    pub(crate) key: &'a [u8; KEY_LEN],
    pub(crate) iv: [u8; IV_LEN],
}

/// Encrypts `message` where it stands and returns its tag. No other message
/// may ever be encrypted with these.
pub(crate) fn encrypt(
    once: SingleUseKey<'_>,
    associated: &[u8],
    message: &mut [u8],
) -> [u8; TAG_LEN] {
    seal(&cipher(once.key), once.iv, associated, message)
}

/// Decrypts a message and the tag behind it where they stand, and returns the
/// message, if the tag is right.
pub(crate) fn decrypt<'a>(
    once: SingleUseKey<'_>,
    associated: &[u8],
    sealed: &'a mut [u8],
) -> Option<&'a mut [u8]> {
    cipher(once.key)
        .open_in_place(nonce(once.iv), Aad::from(associated), sealed)
        .ok()
}

/// The cipher of `key`, ready to be used.
pub(crate) fn cipher(key: &[u8; KEY_LEN]) -> LessSafeKey {
    let key = UnboundKey::new(&AES_256_GCM, key).expect("AES-256 takes 32 bytes");
    LessSafeKey::new(key)
}

/// Encrypts `message` where it stands and returns its tag.
pub(crate) fn seal(
    cipher: &LessSafeKey,
    iv: [u8; IV_LEN],
    associated: &[u8],
    message: &mut [u8],
) -> [u8; TAG_LEN] {
    let tag = cipher
        .seal_in_place_separate_tag(nonce(iv), Aad::from(associated), message)
        .expect("a message of ours is far shorter than the 64 GiB AES-GCM takes");
    let mut bytes = [0; TAG_LEN];
    bytes.copy_from_slice(tag.as_ref());
    bytes
}

fn nonce(iv: [u8; IV_LEN]) -> Nonce {
    Nonce::assume_unique_for_key(iv)
}
