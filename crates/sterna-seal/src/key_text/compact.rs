//! The one-line form, for an environment variable.

use sterna_types::UnixMillis;

use super::{KeyTextError, KeyTextFault, Keys};
use crate::key::Key;
use crate::keyring::Keyring;
use crate::secret::SecretKey;

impl Keyring {
    /// Reads keys written as `secret`, `secret@activate_at` or
    /// `secret@activate_at/retire_at`, with commas or spaces between them.
    ///
    /// # Errors
    ///
    /// [`KeyTextError`] with the column to correct.
    ///
    /// # Examples
    ///
    /// ```
    /// # use sterna_seal::Keyring;
    /// let ring = Keyring::from_compact(
    ///     "b2xkIGtleSBvbGQga2V5IG9sZCBrZXkgb2xkIGtleSE, \
    ///      bmV3IGtleSBuZXcga2V5IG5ldyBrZXkgbmV3IGtleSE@2026-08-01T00:00:00Z",
    /// )?;
    /// assert_eq!(ring.keys().count(), 2);
    /// # Ok::<(), sterna_seal::KeyTextError>(())
    /// ```
    pub fn from_compact(text: &str) -> Result<Self, KeyTextError> {
        let mut keys = Keys::of(text);
        let mut at = 0;
        for entry in text.split([',', ' ', '\t', '\r', '\n']) {
            if !entry.is_empty() {
                let key = read_key(&keys, at, entry)?;
                keys.add(at, key)?;
            }
            at += entry.len() + 1;
        }
        keys.into_ring()
    }
}

fn read_key(keys: &Keys<'_>, at: usize, entry: &str) -> Result<Key, KeyTextError> {
    let (secret, times) = match entry.split_once('@') {
        Some((secret, times)) => (secret, Some(times)),
        None => (entry, None),
    };
    let secret = SecretKey::from_base64url(secret).map_err(|fault| keys.error(at, fault))?;
    let mut key = Key::new(secret);
    let Some(times) = times else {
        return Ok(key);
    };
    let times_at = at + entry.len() - times.len();
    let (activate_at, retire_at) = match times.split_once('/') {
        Some((activate_at, retire_at)) => (activate_at, Some(retire_at)),
        None => (times, None),
    };
    key = key.activating_at(read_time(activate_at).map_err(|fault| keys.error(times_at, fault))?);
    if let Some(retire_at) = retire_at {
        let retire_at_at = at + entry.len() - retire_at.len();
        let time = read_time(retire_at).map_err(|fault| keys.error(retire_at_at, fault))?;
        key = key.retiring_at(time);
    }
    Ok(key)
}

fn read_time(text: &str) -> Result<UnixMillis, KeyTextFault> {
    Ok(text.parse()?)
}
