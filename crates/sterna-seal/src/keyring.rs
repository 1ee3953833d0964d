//! The keys a server mints and opens with.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sterna_types::UnixMillis;

use crate::entropy::{Entropy, EntropyError};
use crate::key::{Key, KeyId};
use crate::open_error::OpenError;
use crate::secret::SecretKey;
use crate::subkeys::Subkeys;

/// An immutable set of keys.
///
/// Mints with the key that became active last and opens with every key that is
/// not retired, found by its id and never by trying.
///
/// # Examples
///
/// ```
/// use sterna_seal::{Key, Keyring, SecretKey, ThreadEntropy, UnixMillis};
///
/// let soon = UnixMillis::new(1_785_196_800_000);
/// let old = Key::new(SecretKey::generate(&mut ThreadEntropy)?);
/// let new = Key::new(SecretKey::generate(&mut ThreadEntropy)?).activating_at(soon);
/// let (old_id, new_id) = (old.id(), new.id());
///
/// let ring = Keyring::new([old, new])?;
/// assert_eq!(ring.minting_key(UnixMillis::MIN).map(Key::id), Some(old_id));
/// assert_eq!(ring.minting_key(soon).map(Key::id), Some(new_id));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Keyring {
    /// In the order in which they become active.
    keys: Vec<(Key, Arc<Subkeys>)>,
    decoy: Arc<Subkeys>,
}

impl Keyring {
    /// A ring of these keys. Of two that become active together, the later in
    /// the list mints.
    ///
    /// # Errors
    ///
    /// [`KeyringError`] if the ring could not work as written.
    pub fn new(keys: impl IntoIterator<Item = Key>) -> Result<Self, KeyringError> {
        let mut keys: Vec<_> = keys.into_iter().collect();
        for (position, key) in keys.iter().enumerate() {
            key_fits(key, &keys[..position])?;
        }
        keys.sort_by_key(Key::activate_at);
        let first = keys.first().ok_or(KeyringError::Empty)?;
        let decoy = Subkeys::decoy(first.secret());
        let keys = keys.into_iter().map(with_subkeys).collect();
        Ok(Self { keys, decoy })
    }

    /// A ring of one new key that has always been active.
    ///
    /// Tokens die with the process unless the ring is kept
    /// ([`to_toml`](Self::to_toml)), and no other replica opens them.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if `entropy` has nothing to give.
    pub fn generate(entropy: &mut dyn Entropy) -> Result<Self, EntropyError> {
        let key = Key::new(SecretKey::generate(entropy)?);
        let decoy = Subkeys::decoy(key.secret());
        let keys = vec![with_subkeys(key)];
        Ok(Self { keys, decoy })
    }

    /// This ring with a key added that takes over at `activate_at`.
    ///
    /// Keys that have no end yet retire when the last token they may have
    /// minted has expired: `longest_round` (the longest
    /// [`Lifetimes::round`](crate::Lifetimes::round) of any tool) after the
    /// handover, and the allowed difference of clocks. Keys already retired at
    /// `now` are left out.
    ///
    /// # Errors
    ///
    /// [`RotateError`] if tokens in flight would be lost. Choose `activate_at`
    /// late enough for the file to reach every replica.
    pub fn rotate(
        &self,
        secret: SecretKey,
        activate_at: UnixMillis,
        longest_round: Duration,
        now: UnixMillis,
    ) -> Result<Self, RotateError> {
        if activate_at <= now {
            return Err(RotateError::NotInFuture);
        }
        let last_expiry = activate_at + longest_round + CLOCK_SKEW;
        let kept = self.keys().filter(|key| !key.is_retired(now)).map(|key| {
            if key.retire_at().is_none() && key.activate_at() <= activate_at {
                key.clone().retiring_at(last_expiry)
            } else {
                key.clone()
            }
        });
        let added = Key::new(secret).activating_at(activate_at);
        Ok(Self::new(kept.chain([added]))?)
    }

    /// The keys, in the order in which they become active.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.keys.iter().map(|(key, _)| key)
    }

    /// The key that mints at `now`, if any is active.
    pub fn minting_key(&self, now: UnixMillis) -> Option<&Key> {
        self.minting(now).map(|(key, _)| key)
    }

    pub(crate) fn minting(&self, now: UnixMillis) -> Option<(&Key, &Subkeys)> {
        let newest = self.keys.iter().rev().find(|(key, _)| key.is_active(now));
        newest.map(|(key, subkeys)| (key, &**subkeys))
    }

    /// The key of this id, retired or not.
    pub(crate) fn find(&self, id: KeyId) -> Option<(&Key, &Arc<Subkeys>)> {
        let found = self.keys.iter().find(|(key, _)| key.id() == id);
        found.map(|(key, subkeys)| (key, subkeys))
    }

    /// The keys to open a token of `id` with, and the error that refuses it even if
    /// they open it.
    ///
    /// A token of an unknown or retired key costs the same derivation and the
    /// same pass over its bytes as a forged one, so the time an answer takes
    /// does not tell which ids exist.
    pub(crate) fn opening(&self, id: KeyId, now: UnixMillis) -> (&Subkeys, Option<OpenError>) {
        match self.find(id) {
            None => (&*self.decoy, Some(OpenError::UnknownKey(id))),
            Some((key, _)) if key.is_retired(now) => {
                (&*self.decoy, Some(OpenError::RetiredKey(id)))
            }
            Some((_, subkeys)) => (subkeys, None),
        }
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.keys().map(Key::id).collect();
        f.debug_tuple("Keyring").field(&ids).finish()
    }
}

/// The reason keys cannot form a ring.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// Two keys have one id: the same secret twice, in all likelihood.
    #[error("key {0} is in the ring twice")]
    Duplicate(KeyId),
    /// There is no key at all.
    #[error("there is no key in the ring")]
    Empty,
    /// A key retires before it activates.
    #[error("key {0} retires before it activates")]
    NeverActive(KeyId),
}

/// The reason a ring cannot be rotated this way.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RotateError {
    /// A replica that has not read the ring by then would refuse tokens.
    #[error("the new key must activate in the future")]
    NotInFuture,
    /// The new key does not fit the ring.
    #[error(transparent)]
    Ring(#[from] KeyringError),
}

/// Checks one key against those that stand before it.
pub(crate) fn key_fits(key: &Key, before: &[Key]) -> Result<(), KeyringError> {
    if before.iter().any(|other| other.id() == key.id()) {
        return Err(KeyringError::Duplicate(key.id()));
    }
    if key.retire_at().is_some_and(|at| at <= key.activate_at()) {
        return Err(KeyringError::NeverActive(key.id()));
    }
    Ok(())
}

fn with_subkeys(key: Key) -> (Key, Arc<Subkeys>) {
    let subkeys = Subkeys::derive(key.secret());
    (key, subkeys)
}

/// Largest difference allowed between the clocks of two replicas.
pub(crate) const CLOCK_SKEW: Duration = Duration::from_secs(60);
