//! One key: a secret and the time in which it is used.

use std::fmt;

use sterna_types::UnixMillis;

use crate::secret::SecretKey;
use crate::subkeys;

/// A secret with the time from which it mints and until which it opens.
///
/// A key opens tokens from the moment it is in the ring until `retire_at`, and
/// mints between `activate_at` and `retire_at` unless a newer one does. That
/// gap between being known and being used lets a fleet rotate in one rollout.
#[derive(Clone, Debug)]
pub struct Key {
    id: KeyId,
    secret: SecretKey,
    activate_at: UnixMillis,
    retire_at: Option<UnixMillis>,
    comment: Option<String>,
}

impl Key {
    /// A key that has always been active and never retires.
    pub fn new(secret: SecretKey) -> Self {
        Self {
            id: KeyId(subkeys::key_id(&secret)),
            secret,
            activate_at: UnixMillis::MIN,
            retire_at: None,
            comment: None,
        }
    }

    /// Mints from `time` on, if the key is not retired by then.
    #[must_use]
    pub fn activating_at(mut self, time: UnixMillis) -> Self {
        self.activate_at = time;
        self
    }

    /// Neither mints nor opens from `time` on.
    #[must_use]
    pub fn retiring_at(mut self, time: UnixMillis) -> Self {
        self.retire_at = Some(time);
        self
    }

    /// Sets the operator's comment on this key.
    #[must_use]
    pub fn commented(mut self, comment: impl Into<String>) -> Self {
        self.comment = Some(comment.into());
        self
    }

    /// The name of this key in tokens, logs and health reports.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The secret itself.
    pub fn secret(&self) -> &SecretKey {
        &self.secret
    }

    /// When this key starts to mint.
    pub fn activate_at(&self) -> UnixMillis {
        self.activate_at
    }

    /// When this key stops opening tokens, if ever.
    pub fn retire_at(&self) -> Option<UnixMillis> {
        self.retire_at
    }

    /// Operator's comment on this key.
    pub fn comment(&self) -> Option<&str> {
        self.comment.as_deref()
    }

    /// Returns `true` if tokens of this key are refused at `now`.
    pub fn is_retired(&self, now: UnixMillis) -> bool {
        self.retire_at.is_some_and(|at| at <= now)
    }

    /// Returns `true` if this key may mint at `now`.
    pub fn is_active(&self, now: UnixMillis) -> bool {
        self.activate_at <= now && !self.is_retired(now)
    }
}

/// The public name of a key, derived from its secret: eight hexadecimal digits.
///
/// Two replicas that print different ids for the key they mint with do not
/// share a secret.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct KeyId([u8; 4]);

impl KeyId {
    pub(crate) const fn from_bytes(bytes: [u8; 4]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn to_bytes(self) -> [u8; 4] {
        self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", u32::from_be_bytes(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}
