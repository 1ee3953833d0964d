//! Secrets: a type that prints nothing, and random values.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use crate::error::Fault;

/// A token, a password or a key: mute in `Debug`, wiped when dropped.
///
/// The wiping covers this value. Copies that a TLS library or the kernel makes
/// while sending it are beyond its reach.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Returns the text itself; keep it out of logs and error messages.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Returns 256 random bits as 43 characters that may stand in a URL.
///
/// Long enough for a PKCE verifier (RFC 7636 asks for at least 43 characters),
/// a `state` and a `jti` alike.
pub(crate) fn random_token() -> Result<String, Fault> {
    let mut bytes = [0; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| Fault::NoRandomness)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_prints_nothing_of_itself() {
        let secret = Secret::from("hunter2");
        assert_eq!(format!("{secret:?} {secret:#?}"), "Secret(…) Secret(…)");
        assert_eq!(secret.expose(), "hunter2");
    }
}
