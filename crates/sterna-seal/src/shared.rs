//! A key ring that can be replaced while requests are being served.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use sterna_types::UnixMillis;

use crate::key::{Key, KeyId};
use crate::keyring::Keyring;
use crate::source::{KeyFile, KeySource, ReloadError, read};

/// The ring a server uses at the moment.
///
/// A request takes the [current](Self::current) ring once and works with it to
/// its end; a reload in between does not touch it. Nothing is read unless
/// [`reload`](Self::reload) is called. A server does that by itself, for every
/// ring that has a [`KeySource`].
///
/// # Examples
///
/// ```
/// use sterna_seal::{Keyring, SharedKeyring, ThreadEntropy, UnixMillis};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("keys.toml");
/// std::fs::write(&path, Keyring::generate(&mut ThreadEntropy)?.to_toml().as_str())?;
///
/// let now = UnixMillis::new(1_785_196_800_000);
/// let keys = SharedKeyring::from_file(&path, now)?;
/// let before = keys.current();
///
/// std::fs::write(&path, "half a fi")?;
/// assert!(keys.reload(now).is_err());
/// assert_eq!(keys.current().minting_key(now).map(|key| key.id()), before.minting_key(now).map(|key| key.id()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SharedKeyring {
    current: RwLock<Arc<Keyring>>,
    source: Option<Arc<dyn KeySource>>,
}

impl SharedKeyring {
    /// A ring that came from elsewhere and cannot be reloaded.
    pub fn new(ring: Keyring) -> Self {
        Self {
            current: RwLock::new(Arc::new(ring)),
            source: None,
        }
    }

    /// `ring`, which later reloads read again from `source`.
    pub fn with_source(ring: Keyring, source: Arc<dyn KeySource>) -> Self {
        Self {
            current: RwLock::new(Arc::new(ring)),
            source: Some(source),
        }
    }

    /// The ring of `source`, which later reloads read again.
    ///
    /// # Errors
    ///
    /// [`ReloadError`] if the source has no ring that can be used at `now`.
    pub fn from_source(source: Arc<dyn KeySource>, now: UnixMillis) -> Result<Self, ReloadError> {
        let ring = read(&*source, now)?;
        Ok(Self::with_source(ring, source))
    }

    /// The ring in the file at `path`, which later reloads read again.
    ///
    /// # Errors
    ///
    /// [`ReloadError`] if the file cannot be read, or not used at `now`.
    pub fn from_file(path: impl Into<PathBuf>, now: UnixMillis) -> Result<Self, ReloadError> {
        Self::from_source(Arc::new(KeyFile::new(path)), now)
    }

    /// The source that reloads read; `None` for a ring that came from elsewhere.
    #[must_use]
    pub fn source(&self) -> Option<&dyn KeySource> {
        self.source.as_deref()
    }

    /// The file that reloads read, if the source is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.source()?.path()
    }

    /// The ring to serve a request with.
    pub fn current(&self) -> Arc<Keyring> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    /// Reads the source again. Without a source nothing changes.
    ///
    /// # Errors
    ///
    /// [`ReloadError`] if the source has no ring that can be used at `now`. The
    /// ring in use then stays in use.
    pub fn reload(&self, now: UnixMillis) -> Result<Reloaded, ReloadError> {
        match self.source() {
            Some(source) => Ok(self.replace(read(source, now)?, now)),
            None => Ok(Reloaded::default()),
        }
    }

    /// Uses `ring` from the next request on.
    pub fn replace(&self, ring: Keyring, now: UnixMillis) -> Reloaded {
        let ring = Arc::new(ring);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *current, Arc::clone(&ring));
        drop(current);
        Reloaded::between(&before, &ring, now)
    }
}

impl fmt::Debug for SharedKeyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedKeyring")
            .field("current", &self.current())
            .field("source", &self.source().map(KeySource::name))
            .finish()
    }
}

/// The difference between the ring before and after a reload.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Reloaded {
    /// Keys that were not in the ring before.
    pub added: Vec<KeyId>,
    /// Keys that left the ring before they retired: tokens that clients still
    /// hold are refused from here on. Worth a warning, unless it was meant.
    pub cut_short: Vec<KeyId>,
}

impl Reloaded {
    fn between(before: &Keyring, after: &Keyring, now: UnixMillis) -> Self {
        let is_new = |key: &&Key| before.keys().all(|old| old.id() != key.id());
        let is_cut_short =
            |key: &&Key| !key.is_retired(now) && after.keys().all(|kept| kept.id() != key.id());
        Self {
            added: after.keys().filter(is_new).map(Key::id).collect(),
            cut_short: before.keys().filter(is_cut_short).map(Key::id).collect(),
        }
    }
}
