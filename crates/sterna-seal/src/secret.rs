//! The secret of a key, and text that contains secrets.

use std::fmt;

use base64_simd::URL_SAFE_NO_PAD;
use zeroize::Zeroizing;

use crate::entropy::{Entropy, EntropyError};

/// The secret a key is made of: at least 32 random bytes.
///
/// Wiped when dropped, and mute in `Debug`.
#[derive(Clone)]
pub struct SecretKey {
    bytes: Zeroizing<Vec<u8>>,
}

impl SecretKey {
    /// Draws a new secret of 32 bytes.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if `entropy` has nothing to give.
    pub fn generate(entropy: &mut dyn Entropy) -> Result<Self, EntropyError> {
        let mut bytes = Zeroizing::new(vec![0; MIN_LEN]);
        entropy.fill(&mut bytes)?;
        Ok(Self { bytes })
    }

    /// Takes over bytes that come from elsewhere, a key service for instance.
    ///
    /// # Errors
    ///
    /// [`SecretError`] if they cannot be the 256 random bits a key needs.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SecretError> {
        let bytes = Zeroizing::new(bytes.to_vec());
        Self::checked(bytes)
    }

    /// Reads the spelling used in key files: base64url without padding.
    ///
    /// # Errors
    ///
    /// [`SecretError`] if it is spelled otherwise or too weak.
    pub fn from_base64url(text: &str) -> Result<Self, SecretError> {
        let bytes = URL_SAFE_NO_PAD
            .decode_to_vec(text)
            .map_err(|_| SecretError::Spelling)?;
        Self::checked(Zeroizing::new(bytes))
    }

    /// The spelling used in key files.
    pub fn to_base64url(&self) -> SecretText {
        SecretText::from(URL_SAFE_NO_PAD.encode_to_string(&*self.bytes))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn checked(bytes: Zeroizing<Vec<u8>>) -> Result<Self, SecretError> {
        if bytes.len() < MIN_LEN {
            return Err(SecretError::Short(bytes.len()));
        }
        if bytes.len() > MAX_LEN {
            return Err(SecretError::Long(bytes.len()));
        }
        if bytes.windows(2).all(|pair| pair[0] == pair[1]) {
            return Err(SecretError::Placeholder);
        }
        Ok(Self { bytes })
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

/// The reason bytes or text cannot be a secret. Never contains any part of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// It is longer than any key needs to be.
    #[error("the secret has {0} bytes, at most {MAX_LEN} are taken")]
    Long(usize),
    /// It is the same byte over and over.
    #[error("the secret is a placeholder, not random bytes")]
    Placeholder,
    /// It is shorter than 32 bytes.
    #[error("the secret has {0} bytes, at least {MIN_LEN} are needed")]
    Short(usize),
    /// It is not canonical base64url without padding.
    #[error("the secret is not base64url without padding (A-Z a-z 0-9 - _, no =)")]
    Spelling,
}

/// Text that contains secrets: wiped when dropped, and mute in `Debug`.
#[derive(Clone)]
pub struct SecretText {
    text: Zeroizing<String>,
}

impl SecretText {
    /// The text itself, to be written where only the server can read it.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        Self {
            text: Zeroizing::new(text),
        }
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(..)")
    }
}

/// As many bits as AES-256 has.
const MIN_LEN: usize = 32;

/// Bounds what a file can make us hash; no key service hands out more.
const MAX_LEN: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_refused_with_its_fault_and_without_its_text() {
        for (text, fault) in [
            ("", SecretError::Short(0)),
            ("q80", SecretError::Short(2)),
            (&"q80x".repeat(10), SecretError::Short(30)),
            (
                &format!("{}q80", "q80x".repeat(341)),
                SecretError::Long(1025),
            ),
            (&"A".repeat(43), SecretError::Placeholder),
            (&format!("{}=", "q80x".repeat(11)), SecretError::Spelling),
            (&"q8+/".repeat(11), SecretError::Spelling),
            (&format!("{}q81", "q80x".repeat(11)), SecretError::Spelling),
        ] {
            let error = SecretKey::from_base64url(text).unwrap_err();
            assert_eq!(error, fault);
            assert!(!error.to_string().contains("q8"), "{error}");
        }
        let longest = format!("{}qw", "q80x".repeat(341));
        assert!(SecretKey::from_base64url(&longest).is_ok());
    }

    #[test]
    fn secrets_are_mute_in_debug() {
        let text = "q80x".repeat(11);
        let secret = SecretKey::from_base64url(&text).unwrap();
        assert_eq!(secret.to_base64url().as_str(), text);
        assert_eq!(format!("{secret:?}"), "SecretKey(..)");
        assert_eq!(format!("{:?}", secret.to_base64url()), "SecretText(..)");
    }
}
