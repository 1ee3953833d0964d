//! Key rings as text: the file an operator keeps, and the one line that fits
//! an environment variable.

mod compact;
mod document;
mod file;

#[cfg(test)]
mod tests;

use sterna_types::ParseTimeError;

use crate::key::Key;
use crate::keyring::{Keyring, KeyringError, key_fits};
use crate::secret::SecretError;

/// Fault in the text of a key ring, with its place.
///
/// Never quotes the text, because it contains secrets.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("line {line}, column {column}: {fault}")]
#[non_exhaustive]
pub struct KeyTextError {
    /// The line at fault, counted from 1.
    pub line: usize,
    /// The character at fault in that line, counted from 1.
    pub column: usize,
    /// The fault itself.
    pub fault: KeyTextFault,
}

impl KeyTextError {
    fn new(text: &str, at: usize, fault: impl Into<KeyTextFault>) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            fault: fault.into(),
        }
    }
}

/// Kind of a fault in the text of a key ring.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyTextFault {
    /// A key has no `secret`.
    #[error("this key has no secret")]
    NoSecret,
    /// A time has no offset, so it is another time in every place.
    #[error("a time needs an offset: write it like 2026-07-28T00:00:00Z")]
    NoOffset,
    /// The calendar does not have the day, or the day does not have the time.
    #[error("there is no such day or time")]
    NoSuchTime,
    /// Something else stands where a key is expected.
    #[error("keys are written as tables, each headed [[key]]")]
    NotAKey,
    /// Something else stands where a time is expected.
    #[error("this is not a time: write it like 2026-07-28T00:00:00Z, without quotes")]
    NotATime,
    /// Something else stands where text is expected.
    #[error("this is not text in quotes")]
    NotText,
    /// The keys do not form a ring.
    #[error(transparent)]
    Ring(#[from] KeyringError),
    /// The secret is too weak or misspelled.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The text is not TOML.
    #[error("not TOML: {0}")]
    Syntax(String),
    /// A field has no meaning here.
    #[error("unknown field: a [[key]] has secret, activate_at, retire_at and comment")]
    UnknownField,
}

impl From<ParseTimeError> for KeyTextFault {
    fn from(error: ParseTimeError) -> Self {
        match error {
            ParseTimeError::NoOffset => Self::NoOffset,
            ParseTimeError::NoSuchTime => Self::NoSuchTime,
            _ => Self::NotATime,
        }
    }
}

/// Collects keys in the order of the text, so that a fault in one names the
/// place where it stands.
struct Keys<'a> {
    text: &'a str,
    keys: Vec<Key>,
}

impl<'a> Keys<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            text,
            keys: Vec::new(),
        }
    }

    fn add(&mut self, at: usize, key: Key) -> Result<(), KeyTextError> {
        key_fits(&key, &self.keys).map_err(|fault| self.error(at, fault))?;
        self.keys.push(key);
        Ok(())
    }

    fn into_ring(self) -> Result<Keyring, KeyTextError> {
        let text = self.text;
        Keyring::new(self.keys).map_err(|fault| KeyTextError::new(text, 0, fault))
    }

    fn error(&self, at: usize, fault: impl Into<KeyTextFault>) -> KeyTextError {
        KeyTextError::new(self.text, at, fault)
    }
}
