//! Places that a key ring is read from.

use std::env::VarError;
use std::error::Error;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sterna_types::UnixMillis;
use zeroize::Zeroizing;

use crate::key_text::KeyTextError;
use crate::keyring::Keyring;

/// Place that a server reads its keys from when it starts, and again while it
/// serves.
///
/// [`KeyFile`] and [`KeyVariable`] are sources. So is a closure that fetches the
/// keys from elsewhere, such as a secret store.
///
/// # Examples
///
/// ```
/// use sterna_seal::{KeySource, Keyring};
///
/// # fn fetch_secret(_name: &str) -> std::io::Result<String> {
/// #     Ok("an-example-only-make-a-secret-of-your-own-0".to_owned())
/// # }
/// let source = || Ok(Keyring::from_compact(&fetch_secret("mcp/keys")?)?);
/// assert_eq!(source.read()?.keys().count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait KeySource: Send + Sync + 'static {
    /// Reads the keys. A server calls it on a thread of its own, where it may
    /// block, and never twice at once.
    ///
    /// # Errors
    ///
    /// [`KeySourceError`]: the keys in use stay in use.
    fn read(&self) -> Result<Keyring, KeySourceError>;

    /// Returns a name of the source for messages.
    fn name(&self) -> String {
        "the key source".to_owned()
    }

    /// Returns the file of the source, if it is one.
    fn path(&self) -> Option<&Path> {
        None
    }
}

impl<F> KeySource for F
where
    F: Fn() -> Result<Keyring, Box<dyn Error + Send + Sync>> + Send + Sync + 'static,
{
    fn read(&self) -> Result<Keyring, KeySourceError> {
        self().map_err(KeySourceError::Other)
    }
}

/// Key file in TOML, which `sterna keys new` makes.
#[derive(Clone, Debug)]
pub struct KeyFile {
    path: PathBuf,
}

impl KeyFile {
    /// The file at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }
}

impl KeySource for KeyFile {
    fn read(&self) -> Result<Keyring, KeySourceError> {
        let text = Zeroizing::new(fs::read_to_string(&self.path).map_err(KeySourceError::Read)?);
        Keyring::from_toml(&text).map_err(KeySourceError::Text)
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }
}

/// Environment variable that holds a ring on one line, as
/// [`Keyring::from_compact`] reads it.
///
/// The environment of a process is readable by its user and inherited by its
/// children: prefer a file where there is one.
#[derive(Clone, Debug)]
pub struct KeyVariable {
    variable: String,
}

impl KeyVariable {
    /// The variable called `variable`.
    pub fn new(variable: impl Into<String>) -> Self {
        Self {
            variable: variable.into(),
        }
    }
}

impl KeySource for KeyVariable {
    fn read(&self) -> Result<Keyring, KeySourceError> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the author names the variable that holds the keys"
        )]
        let text = std::env::var(&self.variable).map_err(|error| {
            // The error of a value that is no text would show it.
            let (kind, what) = match error {
                VarError::NotPresent => (io::ErrorKind::NotFound, "it is not set"),
                VarError::NotUnicode(_) => (io::ErrorKind::InvalidData, "its value is not text"),
            };
            KeySourceError::Read(io::Error::new(kind, what))
        })?;
        let text = Zeroizing::new(text);
        Keyring::from_compact(&text).map_err(KeySourceError::Text)
    }

    fn name(&self) -> String {
        format!("the environment variable {}", self.variable)
    }
}

/// The reason a source gave no ring that can be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeySourceError {
    /// There are keys, but none that could seal at this time.
    #[error("no key is active at {0}")]
    NoActiveKey(UnixMillis),
    /// Error of a source of the author's own.
    #[error("the key source failed")]
    Other(#[source] Box<dyn Error + Send + Sync>),
    /// The source cannot be read.
    #[error("the key source cannot be read")]
    Read(#[source] io::Error),
    /// The text is not a ring.
    #[error("the text of the key source is not a key ring")]
    Text(#[source] KeyTextError),
}

/// The reason a ring was not taken over, with the name of its source.
///
/// Its `Debug` prints the message and its cause, because a `main` that returns
/// the error prints `Debug`.
pub struct ReloadError {
    from: String,
    is_file: bool,
    error: KeySourceError,
}

impl ReloadError {
    /// `error` of `source`.
    pub fn new(source: &dyn KeySource, error: KeySourceError) -> Self {
        Self {
            from: source.name(),
            is_file: source.path().is_some(),
            error,
        }
    }

    /// Error of the source.
    #[must_use]
    pub fn error(&self) -> &KeySourceError {
        &self.error
    }
}

impl fmt::Display for ReloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = &self.from;
        match &self.error {
            KeySourceError::NoActiveKey(now) => write!(f, "no key in {from} is active at {now}"),
            KeySourceError::Other(_) => write!(f, "{from} failed"),
            KeySourceError::Read(_) => write!(f, "cannot read {from}"),
            KeySourceError::Text(_) if self.is_file => write!(f, "{from} is not a key file"),
            KeySourceError::Text(_) => write!(f, "{from} is not a key ring"),
        }
    }
}

impl Error for ReloadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // Its own text names the source, so the error between it and the cause would repeat it.
        self.error.source()
    }
}

impl fmt::Debug for ReloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        let mut cause = self.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        let from = &self.from;
        match &self.error {
            KeySourceError::NoActiveKey(_) if self.is_file => {
                write!(f, "; add a key that is, with `sterna keys rotate {from}`")
            }
            KeySourceError::Read(error)
                if self.is_file && error.kind() == io::ErrorKind::NotFound =>
            {
                write!(f, "; make one with `sterna keys new {from}`")
            }
            _ => Ok(()),
        }
    }
}

/// Reads a ring that can seal at `now`.
pub(crate) fn read(source: &dyn KeySource, now: UnixMillis) -> Result<Keyring, ReloadError> {
    let ring = source.read();
    let active = ring.and_then(|ring| match ring.minting_key(now) {
        Some(_) => Ok(ring),
        None => Err(KeySourceError::NoActiveKey(now)),
    });
    active.map_err(|error| ReloadError::new(source, error))
}
