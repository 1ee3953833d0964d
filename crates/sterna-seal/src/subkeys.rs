//! Keys derived from a secret, one for each use.

use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use ring::hmac::{self, HMAC_SHA256};
use zeroize::Zeroizing;

use crate::cipher::{IV_LEN, KEY_LEN};
use crate::hedge::HedgeKey;
use crate::keyed::{KeyStream, SecretSum};
use crate::secret::SecretKey;

/// The keys of one secret, each for one purpose, derived once.
pub(crate) struct Subkeys {
    token: KeyStream,
    binding: SecretSum,
    blob: hmac::Key,
    hedge: HedgeKey,
}

impl Subkeys {
    /// In one place, because a moved key leaves a copy of itself behind.
    pub(crate) fn derive(secret: &SecretKey) -> Arc<Self> {
        Self::expand(&extract(secret))
    }

    /// Keys that belong to no id, to spend the same work on an unknown one.
    pub(crate) fn decoy(secret: &SecretKey) -> Arc<Self> {
        let mut bytes = Zeroizing::new([0; 32]);
        fill(&extract(secret), "decoy", &mut *bytes);
        Self::expand(&Salt::new(HKDF_SHA256, DOMAIN).extract(&*bytes))
    }

    fn expand(root: &Prk) -> Arc<Self> {
        Arc::new(Self {
            token: KeyStream::new(&secret(root, "token")),
            binding: SecretSum::new(&secret(root, "binding")),
            blob: hmac::Key::new(HMAC_SHA256, &*secret(root, "blob")),
            hedge: HedgeKey::new(|purpose, bytes| fill(root, purpose, bytes)),
        })
    }

    /// The key that encrypts the tokens whose nonces begin so.
    pub(crate) fn token_key(&self, beginning: [u8; IV_LEN]) -> [u8; KEY_LEN] {
        self.token.at(beginning)
    }

    /// Keyed sum that digests the binding of a token.
    pub(crate) fn binding(&self) -> &SecretSum {
        &self.binding
    }

    pub(crate) fn blob(&self) -> &hmac::Key {
        &self.blob
    }

    pub(crate) fn hedge(&self) -> &HedgeKey {
        &self.hedge
    }
}

impl fmt::Debug for Subkeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subkeys(..)")
    }
}

impl Drop for Subkeys {
    fn drop(&mut self) {
        // ring wipes nothing itself. Another key written over this one does it,
        // and the black box keeps the compiler from leaving the write out.
        self.blob = hmac::Key::new(HMAC_SHA256, &[0; 32]);
        black_box(&mut self.blob);
    }
}

/// 32 bytes that only the holder of `key` can tell from random ones.
pub(crate) fn prf(key: &hmac::Key, input: &[u8]) -> [u8; KEY_LEN] {
    let mut output = [0; KEY_LEN];
    output.copy_from_slice(hmac::sign(key, input).as_ref());
    output
}

/// Bytes of the public id of a key.
pub(crate) fn key_id(secret: &SecretKey) -> [u8; 4] {
    let mut id = [0; 4];
    fill(&extract(secret), "key id", &mut id);
    id
}

fn extract(secret: &SecretKey) -> Prk {
    Salt::new(HKDF_SHA256, DOMAIN).extract(secret.as_bytes())
}

fn secret(root: &Prk, purpose: &str) -> Zeroizing<[u8; KEY_LEN]> {
    let mut bytes = Zeroizing::new([0; KEY_LEN]);
    fill(root, purpose, &mut *bytes);
    bytes
}

fn fill(root: &Prk, purpose: &str, bytes: &mut [u8]) {
    root.expand(&[purpose.as_bytes()], Length(bytes.len()))
        .and_then(|okm| okm.fill(bytes))
        .expect("no purpose needs more than the 8160 bytes HKDF can give");
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// Frozen: another text makes other keys of the same secrets.
const DOMAIN: &[u8] = b"sterna seal v1";
