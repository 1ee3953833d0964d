//! A position in JSON text.

/// A position in JSON text that takes one token after the other.
///
/// It knows the plain spellings only. What it does not take, a JSON reader may
/// still accept: an exponent, a surrogate pair, a number of many digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// A string as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextString<'a> {
    /// The characters between the quotes, with their escapes.
    pub(crate) written: &'a str,
    pub(crate) escapes: Escapes,
}

/// Escapes in a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    None,
    /// Each stands for one character.
    Some,
}

/// A number that a double holds exactly, or as near as every reader has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextNumber {
    pub(crate) value: f64,
    /// `true` if it is written without a fraction.
    pub(crate) is_integer: bool,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The text from `start` up to here.
    pub(crate) fn since(&self, start: &Self) -> &'a str {
        &self.text[start.at..self.at]
    }

    /// Number of bytes from here to the end.
    pub(crate) fn left(&self) -> usize {
        self.text.len() - self.at
    }

    /// Takes whitespace.
    pub(crate) fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// The next byte, which is not taken.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes `byte`, with the whitespace before it.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Takes `word`.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let rest = self.text.as_bytes().get(self.at..);
        let found = rest.is_some_and(|rest| rest.starts_with(word.as_bytes()));
        if found {
            self.at += word.len();
        }
        found
    }

    /// Returns `true` if nothing but whitespace is left.
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.at == self.text.len()
    }

    /// Takes the name of a member without escapes, and its colon.
    pub(crate) fn name(&mut self) -> Option<&'a str> {
        self.skip_space();
        let name = self.string()?;
        (name.escapes == Escapes::None && self.take(b':')).then_some(name.written)
    }

    /// Takes a string.
    pub(crate) fn string(&mut self) -> Option<TextString<'a>> {
        let bytes = self.text.as_bytes();
        if self.peek() != Some(b'"') {
            return None;
        }
        let start = self.at + 1;
        let mut at = start;
        let mut escapes = Escapes::None;
        loop {
            at += plain_length(bytes.get(at..)?)?;
            match bytes[at] {
                b'"' => break,
                b'\\' => {
                    escapes = Escapes::Some;
                    at += escape(&bytes[at + 1..])?;
                }
                _ => return None,
            }
        }
        self.at = at + 1;
        Some(TextString {
            written: &self.text[start..at],
            escapes,
        })
    }

    /// Takes a number of at most fifteen digits and without an exponent. Every
    /// reader has the same double for it.
    pub(crate) fn number(&mut self) -> Option<TextNumber> {
        let start = self.at;
        let is_negative = self.take_word("-");
        let has_leading_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        if whole == 0 || (whole > 1 && has_leading_zero) {
            return None;
        }
        let mut fraction = 0;
        let is_integer = self.peek() != Some(b'.');
        if !is_integer {
            self.at += 1;
            fraction = self.digits();
            if fraction == 0 {
                return None;
            }
        }
        if whole + fraction > MOST_DIGITS || matches!(self.peek(), Some(b'e' | b'E')) {
            return None;
        }
        let value = self.text[start..self.at].parse().ok()?;
        // Readers differ over whether `-0` is an integer.
        let is_minus_zero = is_negative && value == 0.0;
        (!is_minus_zero).then_some(TextNumber { value, is_integer })
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }
}

impl TextString<'_> {
    /// Number of characters that it stands for.
    pub(crate) fn count(&self) -> u64 {
        let mut rest = self.written;
        let mut count = 0;
        while let Some(at) = rest.find('\\') {
            count += rest[..at].chars().count() + 1;
            let escape = escape(&rest.as_bytes()[at + 1..]).unwrap_or(1);
            rest = rest.get(at + escape..).unwrap_or_default();
        }
        (count + rest.chars().count()) as u64
    }
}

/// The number of bytes before the first quote, backslash or control character;
/// `None` if there is none of them.
fn plain_length(bytes: &[u8]) -> Option<usize> {
    let stops = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    // No early exit from a block, so that its check vectorises.
    let (blocks, _) = bytes.as_chunks::<16>();
    let is_plain = |block: &&[u8; 16]| !block.iter().fold(false, |any, b| any | stops(*b));
    let start = blocks.iter().take_while(is_plain).count() * 16;
    let rest = bytes.get(start..)?;
    let length = rest.iter().position(|byte| stops(*byte))?;
    Some(start + length)
}

/// The length of an escape for one character, its backslash included. `after`
/// begins behind the backslash.
fn escape(after: &[u8]) -> Option<usize> {
    match after.first()? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => {
            let digits = after.get(1..5)?;
            let is_surrogate = digits[0].eq_ignore_ascii_case(&b'd') && digits[1] >= b'8';
            (digits.iter().all(u8::is_ascii_hexdigit) && !is_surrogate).then_some(6)
        }
        _ => None,
    }
}

/// Integers of so many digits are exact in a double, and one division by a power
/// of ten rounds correctly.
const MOST_DIGITS: usize = 15;
