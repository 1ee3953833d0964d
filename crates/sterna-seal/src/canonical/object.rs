//! Objects, with their members in order.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use super::{CanonicalError, Writer};

/// One `"name":value` as it stands in the output.
pub(super) struct Member<'a> {
    name: Cow<'a, str>,
    written: Range<usize>,
}

impl<'a> Writer<'a> {
    pub(super) fn object(&mut self, depth: usize) -> Result<(), CanonicalError> {
        let first = self.members.len();
        self.copy_byte();
        let start = self.out.len();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.copy_byte();
            return Ok(());
        }
        loop {
            self.skip_space();
            self.member(depth)?;
            self.skip_space();
            match self.peek() {
                Some(b',') => self.copy_byte(),
                Some(b'}') => break,
                _ => return Err(self.syntax()),
            }
        }
        self.put_in_order(first, start)?;
        self.copy_byte();
        Ok(())
    }

    fn member(&mut self, depth: usize) -> Result<(), CanonicalError> {
        let start = self.out.len();
        let name = self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.syntax());
        }
        self.copy_byte();
        self.skip_space();
        self.value(depth)?;
        let written = start..self.out.len();
        self.members.push(Member { name, written });
        Ok(())
    }

    /// Closes the object whose members begin at `first` and whose text begins
    /// at `start`: sorts them, unless they came sorted.
    fn put_in_order(&mut self, first: usize, start: usize) -> Result<(), CanonicalError> {
        let members = &mut self.members[first..];
        let came_sorted = members
            .windows(2)
            .all(|pair| order(&pair[0].name, &pair[1].name) == Ordering::Less);
        if !came_sorted {
            members.sort_by(|a, b| order(&a.name, &b.name));
            if members.windows(2).any(|pair| pair[0].name == pair[1].name) {
                return Err(CanonicalError::DuplicateName { at: self.at });
            }
            let mut sorted = Vec::with_capacity(self.out.len() - start);
            for member in members {
                if !sorted.is_empty() {
                    sorted.push(b',');
                }
                sorted.extend_from_slice(&self.out[member.written.clone()]);
            }
            self.out.truncate(start);
            self.out.extend_from_slice(&sorted);
        }
        self.members.truncate(first);
        Ok(())
    }
}

/// The order of RFC 8785: by UTF-16 code units.
///
/// Bytes of UTF-8 sort the same way until a character needs a surrogate pair,
/// which begins with a unit below those of U+E000 to U+FFFF.
fn order(a: &str, b: &str) -> Ordering {
    if a.is_ascii() && b.is_ascii() {
        a.cmp(b)
    } else {
        a.encode_utf16().cmp(b.encode_utf16())
    }
}
