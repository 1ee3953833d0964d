//! Place in a JSON text, moved forward over what is spelled as usual.

use std::str;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::jsonrpc::{MAX_DEPTH, RequestId, openers};

/// Place in a body. Every method that returns `None` gives up on it.
///
/// The bytes are not checked to be UTF-8 as a whole: what is passed over equals
/// a constant, is checked as raw text, or is returned by [`text`](Self::text).
pub(super) struct Cursor<'a> {
    body: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(body: &'a [u8]) -> Self {
        Self { body, at: 0 }
    }

    /// The bytes from here on.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.body.get(self.at..).unwrap_or_default()
    }

    /// Passes over `bytes`, which the caller has looked at.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    fn byte(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.byte()? == byte).then(|| self.at += 1)
    }

    /// Passes over spaces. Other white space is left, and nothing else accepts
    /// it.
    fn spaces(&mut self) {
        while self.byte() == Some(b' ') {
            self.at += 1;
        }
    }

    /// Opens an object; returns true if it has members.
    pub(super) fn open(&mut self) -> Option<bool> {
        self.eat(b'{')?;
        self.spaces();
        let is_empty = self.eat(b'}').is_some();
        Some(!is_empty)
    }

    /// Passes over `text` if it comes next.
    #[inline]
    pub(super) fn take(&mut self, text: &[u8]) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// The member whose name comes next, with the colon behind it; `None` for a
    /// name that is not among `members`.
    ///
    /// A name that is spelled as usual is compared in one piece, in the order
    /// of `members`, and its end need not be searched.
    #[inline(always)]
    pub(super) fn member<M: Copy, const N: usize>(
        &mut self,
        members: &[(&'static str, M); N],
    ) -> Option<M> {
        for (spelled, member) in members {
            if self.take(spelled.as_bytes()) {
                self.spaces();
                return Some(*member);
            }
        }
        let name = self.name()?;
        let is_named = |(spelled, _): &&(&str, M)| unquoted(spelled) == Some(name);
        let (_, member) = members.iter().find(is_named)?;
        Some(*member)
    }

    /// The name of a member, with the colon behind it.
    pub(super) fn name(&mut self) -> Option<&'a [u8]> {
        let name = self.string()?;
        self.spaces();
        self.eat(b':')?;
        self.spaces();
        Some(name)
    }

    /// Passes over the end of a member; returns true if another one follows.
    pub(super) fn next(&mut self) -> Option<bool> {
        self.spaces();
        let byte = self.byte()?;
        self.at += 1;
        match byte {
            b',' => {
                self.spaces();
                Some(true)
            }
            b'}' => Some(false),
            _ => None,
        }
    }

    /// Returns `Some` if nothing but spaces is left.
    pub(super) fn end(mut self) -> Option<()> {
        self.spaces();
        (self.at == self.body.len()).then_some(())
    }

    /// The bytes of a string without escapes, which the caller compares with
    /// a constant.
    pub(super) fn string(&mut self) -> Option<&'a [u8]> {
        self.eat(b'"')?;
        let rest = self.rest();
        let length = plain_length(rest);
        self.at += length;
        self.eat(b'"')?;
        rest.get(..length)
    }

    /// A string without escapes.
    pub(super) fn text(&mut self) -> Option<&'a str> {
        str::from_utf8(self.string()?).ok()
    }

    /// An id: a string without escapes, or an integer of a few digits.
    pub(super) fn id(&mut self) -> Option<RequestId> {
        if self.byte()? == b'"' {
            let text = self.text()?;
            let fits = text.len() <= RequestId::MAX_BYTES;
            return fits.then(|| RequestId::from(text));
        }
        let rest = self.rest();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let begins_well = digits == 1 || rest.first() != Some(&b'0');
        // A fraction or an exponent may follow, which is not an integer's end.
        let ends_well = matches!(rest.get(digits), Some(b',' | b'}' | b' '));
        if !(1..=MOST_DIGITS).contains(&digits) || !begins_well || !ends_well {
            return None;
        }
        self.at += digits;
        let number = rest.get(..digits)?.iter();
        let number = number.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        Some(RequestId::Integer(number))
    }

    /// Any value, checked to be JSON by the parser that the careful decoder
    /// uses for raw text.
    pub(super) fn raw(&mut self) -> Option<&'a RawValue> {
        // The parser would pass over white space that is not part of the value.
        if self.byte()?.is_ascii_whitespace() {
            return None;
        }
        let mut json = serde_json::Deserializer::from_slice(self.rest());
        let raw = <&RawValue>::deserialize(&mut json).ok()?;
        self.at += raw.get().len();
        // The members around it are not nested more deeply than this.
        let fits = openers(raw.get().as_bytes()) + ENCLOSING <= MAX_DEPTH;
        fits.then_some(raw)
    }
}

/// The name in the spelling of a member: without its quotes and the colon.
fn unquoted(spelled: &str) -> Option<&[u8]> {
    let name = spelled.strip_prefix('"')?.strip_suffix("\":")?;
    Some(name.as_bytes())
}

/// The number of bytes before the first quote, backslash or control character.
fn plain_length(bytes: &[u8]) -> usize {
    let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    // Long strings first: no early exit from a block, so that its check vectorises.
    let (blocks, _) = bytes.as_chunks::<16>();
    let is_plain = |block: &&[u8; 16]| !block.iter().fold(false, |any, b| any | is_special(*b));
    let start = blocks.iter().take_while(is_plain).count() * 16;
    let end = bytes.get(start..).unwrap_or_default();
    let (words, rest) = end.as_chunks::<8>();
    for (place, word) in words.iter().enumerate() {
        let found = special(u64::from_le_bytes(*word));
        if found != 0 {
            return start + place * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let length = rest.iter().position(|byte| is_special(*byte));
    bytes.len() - rest.len() + length.unwrap_or(rest.len())
}

/// Marks the high bit of the lowest byte of `word` that ends plain text. Bits
/// above it mean nothing.
fn special(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | is(b'"') | is(b'\\')) & HIGHS
}

/// Objects around the values that stay raw: the message, its parameters, and
/// `_meta` or the answers.
const ENCLOSING: usize = 3;

/// Eighteen digits always fit an `i64`.
const MOST_DIGITS: usize = 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_ends_at_the_same_byte_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            for place in 0..40 {
                for after in [b'a', b'"', 0, 0xff] {
                    let mut bytes = vec![b'x'; place];
                    bytes.extend([byte, after, after, after]);
                    let expected = bytes.iter().position(|b| *b < 0x20 || b"\"\\".contains(b));
                    let expected = expected.unwrap_or(bytes.len());
                    assert_eq!(plain_length(&bytes), expected, "{byte} at {place}");
                }
            }
        }
    }
}
