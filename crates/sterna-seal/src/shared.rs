//! A key ring that can be replaced while requests are being served.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use sterna_types::UnixMillis;
use zeroize::Zeroizing;

use crate::key::{Key, KeyId};
use crate::key_text::KeyTextError;
use crate::keyring::Keyring;

/// The ring a server uses at the moment.
///
/// A request takes the [current](Self::current) ring once and works with it to
/// its end; a reload in between does not touch it. Nothing is read unless
/// [`reload`](Self::reload) is called: on a signal, on a timer, or when the
/// file changes, as the server likes.
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
#[derive(Debug)]
pub struct SharedKeyring {
    current: RwLock<Arc<Keyring>>,
    path: Option<PathBuf>,
}

impl SharedKeyring {
    /// A ring that came from elsewhere and has no file to be reloaded from.
    pub fn new(ring: Keyring) -> Self {
        Self {
            current: RwLock::new(Arc::new(ring)),
            path: None,
        }
    }

    /// The ring in the file at `path`, which later reloads read again.
    ///
    /// # Errors
    ///
    /// [`ReloadError`] if the file cannot be read, or not used at `now`.
    pub fn from_file(path: impl Into<PathBuf>, now: UnixMillis) -> Result<Self, ReloadError> {
        let path = path.into();
        Ok(Self {
            current: RwLock::new(Arc::new(read(&path, now)?)),
            path: Some(path),
        })
    }

    /// The file that reloads read; `None` for a ring that came from elsewhere.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The ring to serve a request with.
    pub fn current(&self) -> Arc<Keyring> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    /// Reads the file again. Without a file nothing changes.
    ///
    /// # Errors
    ///
    /// [`ReloadError`] if the file cannot be read, or not used at `now`. The
    /// ring in use then stays in use.
    pub fn reload(&self, now: UnixMillis) -> Result<Reloaded, ReloadError> {
        match &self.path {
            Some(path) => Ok(self.replace(read(path, now)?, now)),
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

/// The reason a key file was not taken over.
///
/// Its `Debug` prints the message and its cause, because a `main` that returns
/// the error prints `Debug`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ReloadError {
    /// The file holds keys, but none that could seal now.
    #[error("no key in {} is active at {now}", path.display())]
    NoActiveKey {
        /// The key file.
        path: PathBuf,
        /// The time it was read for.
        now: UnixMillis,
    },
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The key file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file is not a key file.
    #[error("{} is not a key file", path.display())]
    Text {
        /// The key file.
        path: PathBuf,
        /// Position and kind of the mistake.
        source: KeyTextError,
    },
}

impl fmt::Debug for ReloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = match self {
            Self::NoActiveKey { path, .. } | Self::Read { path, .. } | Self::Text { path, .. } => {
                path.display()
            }
        };
        match self {
            Self::NoActiveKey { .. } => {
                write!(
                    f,
                    "{self}; add a key that is, with `sterna keys rotate {path}`"
                )
            }
            Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                write!(
                    f,
                    "{self}: {source}; make one with `sterna keys new {path}`"
                )
            }
            Self::Read { source, .. } => write!(f, "{self}: {source}"),
            Self::Text { source, .. } => write!(f, "{self}: {source}"),
        }
    }
}

fn read(path: &Path, now: UnixMillis) -> Result<Keyring, ReloadError> {
    let text = fs::read_to_string(path).map_err(|source| ReloadError::Read {
        path: path.to_owned(),
        source,
    })?;
    let text = Zeroizing::new(text);
    let ring = Keyring::from_toml(&text).map_err(|source| ReloadError::Text {
        path: path.to_owned(),
        source,
    })?;
    if ring.minting_key(now).is_none() {
        let path = path.to_owned();
        return Err(ReloadError::NoActiveKey { path, now });
    }
    Ok(ring)
}
