//! The journal of a flow: its answers and results, by name, in the order of
//! events.

mod entry;
#[cfg(test)]
mod tests;
pub(crate) mod v1;

use bytes::Bytes;

pub use entry::{Entry, Kind};

use crate::fingerprint::Fingerprint;
use crate::key::Key;
use crate::key_map::KeyMap;

/// Everything a flow needs in order to go on: entries by name, in completion
/// order, and the questions that were open when it was last suspended.
///
/// Between two requests a flow *is* its journal. It is not positional: a new
/// build of the handler finds what it asks for by name, wherever it asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journal {
    version: u32,
    entries: Vec<Entry>,
    index: KeyMap<usize>,
    asked: Vec<Asked>,
}

impl Journal {
    /// The journal of a flow that has not begun.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts together a journal that was stored entry by entry, in order.
    ///
    /// Entries inside a finished memo may still be among them; they are left out.
    ///
    /// # Errors
    ///
    /// [`DecodeError::DuplicateKey`] if two entries have one key.
    pub fn from_entries(
        entries: impl IntoIterator<Item = Entry>,
        asked: impl IntoIterator<Item = Asked>,
    ) -> Result<Self, DecodeError> {
        let mut entries: Vec<Entry> = entries.into_iter().collect();
        let memos: Vec<Key> = entries
            .iter()
            .filter(|entry| entry.kind == Kind::Memo)
            .map(|entry| entry.key.clone())
            .collect();
        if !memos.is_empty() {
            entries.retain(|entry| !memos.iter().any(|memo| entry.key.is_inside_memo(memo)));
        }
        Self::from_parts(0, entries, asked.into_iter().collect())
    }

    pub(crate) fn from_parts(
        version: u32,
        entries: Vec<Entry>,
        asked: Vec<Asked>,
    ) -> Result<Self, DecodeError> {
        let index = index(&entries)?;
        Ok(Self::with_index(version, entries, index, asked))
    }

    pub(crate) const fn with_index(
        version: u32,
        entries: Vec<Entry>,
        index: KeyMap<usize>,
        asked: Vec<Asked>,
    ) -> Self {
        Self {
            version,
            entries,
            index,
            asked,
        }
    }

    pub(crate) fn into_parts(self) -> (Vec<Entry>, KeyMap<usize>, Vec<Asked>) {
        (self.entries, self.index, self.asked)
    }

    /// Reads a journal that [`encode`](Self::encode) wrote, in this release or
    /// an older one. Values are not copied; they share `bytes`.
    ///
    /// # Errors
    ///
    /// See [`DecodeError`]: the bytes are no journal, or one beyond `limits`.
    pub fn decode(bytes: impl Into<Bytes>, limits: &Limits) -> Result<Self, DecodeError> {
        v1::decode(bytes.into(), limits)
    }

    /// The journal in bytes: versioned, canonical, not encrypted.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        v1::encode(self)
    }

    /// The handler's state version that wrote this journal.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// States which version of the handler's state this journal now fits.
    pub const fn set_version(&mut self, version: u32) {
        self.version = version;
    }

    /// All entries, in the order in which they completed.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of that name.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.index.get(key).map(|at| &self.entries[*at])
    }

    /// The questions that were open: only these may be answered.
    #[must_use]
    pub fn asked(&self) -> &[Asked] {
        &self.asked
    }

    /// Forgets an entry, so that the handler asks or runs it again.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        let (_, at) = self.index.remove(key)?;
        let entry = self.entries.remove(at);
        for later in self.index.values_mut().filter(|later| **later > at) {
            *later -= 1;
        }
        Some(entry)
    }

    /// Gives an entry another name. Says whether it was there and the name free.
    pub fn rename(&mut self, from: &str, to: &str) -> bool {
        if self.index.get(to).is_some() {
            return false;
        }
        let Some((_, at)) = self.index.remove(from) else {
            return false;
        };
        let key = Key::new(to);
        self.entries[at].key = key.clone();
        self.index.insert(key, at);
        true
    }

    /// Replaces the value of an entry. Returns `false` if there is no such entry.
    pub fn set_value(&mut self, key: &str, value: impl Into<Bytes>) -> bool {
        let Some(at) = self.index.get(key) else {
            return false;
        };
        self.entries[*at].value = value.into();
        true
    }
}

fn index(entries: &[Entry]) -> Result<KeyMap<usize>, DecodeError> {
    let mut index = KeyMap::default();
    for (at, entry) in entries.iter().enumerate() {
        if index.insert(entry.key.clone(), at).is_some() {
            return Err(DecodeError::DuplicateKey(entry.key.clone()));
        }
    }
    Ok(index)
}

/// A question as it was put to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asked {
    /// The key the client saw.
    pub key: Key,
    /// Fingerprint of the question.
    pub fingerprint: Fingerprint,
}

impl Asked {
    /// The question `key` with that fingerprint.
    #[must_use]
    pub fn new(key: &str, fingerprint: Fingerprint) -> Self {
        Self {
            key: Key::new(key),
            fingerprint,
        }
    }
}

/// Limits on the size of a journal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Entries in a journal. 256 is far above any conversation of eight rounds;
    /// raise it for tasks that loop.
    pub entries: usize,
    /// Bytes of one key. Keys are shown to clients, so they are short.
    pub key_bytes: usize,
    /// Bytes of one step's result. 16 KiB leaves room for others in a token.
    pub value_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: 256,
            key_bytes: 256,
            value_bytes: 16 * 1024,
        }
    }
}

/// The reason bytes are not a journal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Two entries have one key.
    #[error("two entries are named `{0}`")]
    DuplicateKey(Key),
    /// A flag this release does not know.
    #[error("unknown flags {0:#04x} on an entry")]
    Flags(u8),
    /// A key that is empty, too long or not text.
    #[error("a key is empty, too long or not text")]
    Key,
    /// A kind of entry this release does not know.
    #[error("unknown kind of entry {0}")]
    Kind(u8),
    /// A number out of range or not in its shortest form.
    #[error("a number is out of range or not in its shortest form")]
    Number,
    /// More entries than allowed.
    #[error("more than {limit} entries")]
    TooManyEntries {
        /// The limit.
        limit: usize,
    },
    /// Bytes after the end.
    #[error("bytes follow the end")]
    TrailingBytes,
    /// The end is missing.
    #[error("the end is missing")]
    Truncated,
    /// A format this release does not know.
    #[error("unknown format {0}")]
    Version(u8),
}
