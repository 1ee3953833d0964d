//! Values nobody can guess.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};

use super::error::Fault;

/// 256 random bits as 43 characters that may stand in a URL.
///
/// Long enough for a PKCE verifier (RFC 7636 asks for at least 43 characters),
/// a `state` and a `jti` alike.
pub(super) fn token() -> Result<String, Fault> {
    let mut bytes = [0; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| Fault::NoRandomness)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
