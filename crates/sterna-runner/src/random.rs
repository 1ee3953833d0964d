//! Random bytes of the operating system.

use sterna_seal::{Entropy, EntropyError, OsEntropy};

/// Returns sixteen bytes that cannot be predicted.
///
/// # Errors
///
/// The operating system has none.
pub fn random_bytes() -> Result<[u8; 16], EntropyError> {
    let mut bytes = [0; 16];
    OsEntropy.fill(&mut bytes)?;
    Ok(bytes)
}

/// Returns a number that differs from one instance to the next, for pauses.
pub fn jitter() -> u64 {
    let bytes = random_bytes().unwrap_or_default();
    bytes.first_chunk().copied().map_or(0, u64::from_be_bytes)
}
