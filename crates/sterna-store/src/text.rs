//! Names and notes that every database can hold.

use std::fmt;

use thiserror::Error;

/// A short text used as a key: 1 to 1024 bytes without NUL.
///
/// PostgreSQL refuses NUL in text and a long key in an index; here the type
/// refuses both, so that no store has to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

impl Name {
    /// The longest name, in bytes.
    pub const LONGEST: usize = 1024;

    /// Takes `text` as a name.
    ///
    /// # Errors
    ///
    /// [`NameError`]: such a text cannot have been used as a key either, so a
    /// value that a peer sent under it can be ignored.
    pub fn new(text: impl Into<String>) -> Result<Self, NameError> {
        let text = text.into();
        if text.is_empty() {
            Err(NameError::Empty)
        } else if text.len() > Self::LONGEST {
            Err(NameError::Long(text.len()))
        } else if text.contains('\0') {
            Err(NameError::Nul)
        } else {
            Ok(Self(text))
        }
    }

    /// The name of a tool whose name cannot be read.
    pub(crate) fn unreadable() -> Self {
        Self("unreadable".to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// The reason a text is no [`Name`].
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// It holds nothing.
    #[error("a name must not be empty")]
    Empty,
    /// It has this many bytes.
    #[error("a name of {0} bytes is longer than {max}", max = Name::LONGEST)]
    Long(usize),
    /// It holds a NUL.
    #[error("a name must not contain NUL")]
    Nul,
}

/// A status line of a task, for people.
///
/// Every text is made to fit: NUL becomes `U+FFFD` and the end of a text above 4
/// KiB is cut off.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Note(String);

impl Note {
    /// The longest note, in bytes.
    pub const LONGEST: usize = 4096;

    /// Makes a note of `text`.
    pub fn new(text: &str) -> Self {
        let mut text = text.replace('\0', "\u{fffd}");
        text.truncate(text.floor_char_boundary(Self::LONGEST));
        Self(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_every_database_can_index() {
        assert_eq!(Name::new(""), Err(NameError::Empty));
        assert_eq!(Name::new("a\0b"), Err(NameError::Nul));
        assert_eq!(Name::new("x".repeat(1025)), Err(NameError::Long(1025)));
        assert!(Name::new("x".repeat(1024)).is_ok());
        assert!(Name::new("'; drop table task; -- \u{202e}🐦").is_ok());
        let name = Name::new("plan").unwrap();
        assert_eq!(format!("{name} {name:?}"), "plan \"plan\"");
    }

    #[test]
    fn a_note_is_cut_between_characters() {
        let note = Note::new(&format!("{}é", "x".repeat(Note::LONGEST - 1)));
        assert_eq!(note.as_str().len(), Note::LONGEST - 1);
        assert_eq!(Note::new("a\0b").as_str(), "a\u{fffd}b");
    }
}
