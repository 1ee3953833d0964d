//! Strings, with the fewest escapes possible.

use std::borrow::Cow;

use super::{CanonicalError, Writer};

impl<'a> Writer<'a> {
    /// Writes a string in its canonical form, and returns its value.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, CanonicalError> {
        let content = self.read_string()?;
        self.out.push(b'"');
        match &content {
            // It came without escapes, and so it needs none.
            Cow::Borrowed(plain) => self.out.extend_from_slice(plain.as_bytes()),
            Cow::Owned(content) => self.write_content(content),
        }
        self.out.push(b'"');
        Ok(content)
    }

    /// Reads a string and takes its escapes away, borrowing where it has none.
    fn read_string(&mut self) -> Result<Cow<'a, str>, CanonicalError> {
        if self.peek() != Some(b'"') {
            return Err(self.syntax());
        }
        self.at += 1;
        let plain = self.plain_run();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(plain));
        }
        let mut content = plain.to_owned();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(content));
                }
                Some(b'\\') => content.push(self.escape()?),
                _ => return Err(self.syntax()),
            }
            content.push_str(self.plain_run());
        }
    }

    fn write_content(&mut self, content: &str) {
        let mut rest = content.as_bytes();
        while let Some(at) = rest.iter().position(|&byte| needs_escape(byte)) {
            self.out.extend_from_slice(&rest[..at]);
            self.write_escape(rest[at]);
            rest = &rest[at + 1..];
        }
        self.out.extend_from_slice(rest);
    }

    /// Passes over unescaped characters, up to a quote, an escape, a control
    /// character or the end. All of those are ASCII, so the run is whole.
    fn plain_run(&mut self) -> &'a str {
        let start = self.at;
        let length = self.rest().iter().position(|&byte| needs_escape(byte));
        self.at = length.map_or(self.text.len(), |length| start + length);
        &self.text[start..self.at]
    }

    fn escape(&mut self) -> Result<char, CanonicalError> {
        let start = self.at;
        self.at += 1;
        let letter = self.peek().ok_or_else(|| self.syntax())?;
        let character = match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(start),
            _ => return Err(self.syntax()),
        };
        self.at += 1;
        Ok(character)
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, CanonicalError> {
        let lone = CanonicalError::LoneSurrogate { at: start };
        let first = self.four_digits()?;
        if !(0xD800..0xDC00).contains(&first) {
            // A trailing half without its leading half is no character either.
            return char::from_u32(first).ok_or(lone);
        }
        if !self.rest().starts_with(b"\\u") {
            return Err(lone);
        }
        self.at += 1;
        let second = self.four_digits()?;
        if !(0xDC00..0xE000).contains(&second) {
            return Err(lone);
        }
        let joined = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        char::from_u32(joined).ok_or(lone)
    }

    /// Reads the `uXXXX` of an escape.
    fn four_digits(&mut self) -> Result<u32, CanonicalError> {
        self.at += 1;
        let mut value = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            value = value * 16 + digit.ok_or_else(|| self.syntax())?;
            self.at += 1;
        }
        Ok(value)
    }

    fn write_escape(&mut self, byte: u8) {
        let short = match byte {
            b'"' | b'\\' => byte,
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0C => b'f',
            b'\r' => b'r',
            _ => {
                let digits = |nibble: u8| HEX[usize::from(nibble)];
                self.out.extend_from_slice(b"\\u00");
                self.out.push(digits(byte >> 4));
                self.out.push(digits(byte & 0xF));
                return;
            }
        };
        self.out.extend_from_slice(&[b'\\', short]);
    }
}

/// Returns whether a byte must be escaped inside a JSON string.
fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

const HEX: &[u8; 16] = b"0123456789abcdef";
