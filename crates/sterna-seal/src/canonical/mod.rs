//! One spelling for every JSON value, after RFC 8785.
//!
//! Works on the raw text in one pass: no tree is built, and a flat object
//! whose members are in order costs two allocations. It departs from the RFC
//! in one point, which makes it stricter: an integer beyond 2⁵³ keeps its
//! digits, because rounding it to a double, as the RFC does, would give two
//! account numbers one digest.

mod number;
mod object;
mod plain;
mod string;

#[cfg(test)]
mod tests;

use object::Member;

/// Appends the canonical form of the JSON in `text` to `out`.
pub(crate) fn canonical(text: &str, mut out: Vec<u8>) -> Result<Vec<u8>, CanonicalError> {
    out.reserve(text.len());
    if plain::is_canonical(text) {
        out.extend_from_slice(text.as_bytes());
        return Ok(out);
    }
    rewrite(text, out)
}

/// Writes the canonical form of any text.
fn rewrite(text: &str, out: Vec<u8>) -> Result<Vec<u8>, CanonicalError> {
    let mut writer = Writer {
        text,
        at: 0,
        out,
        members: Vec::new(),
    };
    writer.skip_space();
    writer.value(0)?;
    writer.skip_space();
    if writer.at < text.len() {
        return Err(writer.syntax());
    }
    Ok(writer.out)
}

/// The reason a text has no canonical form.
///
/// Positions are bytes from the start. The text itself is never quoted, because
/// it may hold personal data.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CanonicalError {
    /// An object has two members of one name, so readers may differ on it.
    #[error("an object ending at byte {at} has two members of the same name")]
    DuplicateName {
        /// Position after that object.
        at: usize,
    },
    /// A string names half of a surrogate pair, which is not a character.
    #[error("half of a surrogate pair at byte {at}")]
    LoneSurrogate {
        /// Position of the escape.
        at: usize,
    },
    /// A number is too large for a double.
    #[error("a number out of range at byte {at}")]
    NumberRange {
        /// Position of the number.
        at: usize,
    },
    /// This is not JSON.
    #[error("not JSON at byte {at}")]
    Syntax {
        /// The first byte that does not fit.
        at: usize,
    },
    /// Arrays and objects are nested more than 128 deep.
    #[error("nested too deep at byte {at}")]
    TooDeep {
        /// Position of the first level that is too deep.
        at: usize,
    },
}

/// Reads `text` from `at` on and writes to `out`.
struct Writer<'a> {
    text: &'a str,
    at: usize,
    out: Vec<u8>,
    /// The members of all objects that are open, innermost last.
    members: Vec<Member<'a>>,
}

impl Writer<'_> {
    fn value(&mut self, depth: usize) -> Result<(), CanonicalError> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'{') => self.object(self.deeper(depth)?),
            Some(b'[') => self.array(self.deeper(depth)?),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => Err(self.syntax()),
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), CanonicalError> {
        self.copy_byte();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.copy_byte();
            return Ok(());
        }
        loop {
            self.skip_space();
            self.value(depth)?;
            self.skip_space();
            match self.peek() {
                Some(b',') => self.copy_byte(),
                Some(b']') => {
                    self.copy_byte();
                    return Ok(());
                }
                _ => return Err(self.syntax()),
            }
        }
    }

    fn word(&mut self, word: &str) -> Result<(), CanonicalError> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.syntax());
        }
        self.out.extend_from_slice(word.as_bytes());
        self.at += word.len();
        Ok(())
    }

    fn deeper(&self, depth: usize) -> Result<usize, CanonicalError> {
        if depth < MAX_DEPTH {
            Ok(depth + 1)
        } else {
            Err(CanonicalError::TooDeep { at: self.at })
        }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// Writes the punctuation that was just seen by `peek`.
    fn copy_byte(&mut self) {
        self.out.extend(self.peek());
        self.at += 1;
    }

    fn syntax(&self) -> CanonicalError {
        CanonicalError::Syntax { at: self.at }
    }
}

/// The depth serde_json accepts; it also bounds our stack.
const MAX_DEPTH: usize = 128;
