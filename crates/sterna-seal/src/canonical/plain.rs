//! Text that is canonical already.

/// Returns `true` if `text` is the canonical spelling of an object beyond doubt.
///
/// It knows objects without objects or lists in them, whose names are of ASCII
/// and in order, whose strings have no escapes and whose numbers are short
/// integers. That is what most arguments are. All else is for the writer, which
/// decides.
pub(super) fn is_canonical(text: &str) -> bool {
    let mut scan = Scan(text.as_bytes());
    scan.object().is_some_and(|()| scan.0.is_empty())
}

/// The bytes that are left.
struct Scan<'a>(&'a [u8]);

impl<'a> Scan<'a> {
    fn object(&mut self) -> Option<()> {
        self.take(b"{")?;
        if self.take(b"}").is_some() {
            return Some(());
        }
        let mut before: Option<&[u8]> = None;
        loop {
            let name = self.string()?;
            // The order is that of UTF-16, which for ASCII is that of the bytes. Equal names
            // have no canonical form.
            if !name.is_ascii() || before.is_some_and(|before| before >= name) {
                return None;
            }
            before = Some(name);
            self.take(b":")?;
            self.value()?;
            if self.take(b"}").is_some() {
                return Some(());
            }
            self.take(b",")?;
        }
    }

    fn value(&mut self) -> Option<()> {
        match self.0.first()? {
            b'"' => self.string().map(drop),
            b't' => self.take(b"true"),
            b'f' => self.take(b"false"),
            b'n' => self.take(b"null"),
            _ => self.integer(),
        }
    }

    /// Takes a string and returns what is between its quotes.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.take(b"\"")?;
        let length = plain_length(self.0)?;
        let (content, rest) = self.0.split_at(length);
        self.0 = rest;
        self.take(b"\"")?;
        Some(content)
    }

    fn integer(&mut self) -> Option<()> {
        let is_negative = self.take(b"-").is_some();
        let length = self.0.iter().take_while(|byte| byte.is_ascii_digit());
        let (digits, rest) = self.0.split_at(length.count());
        self.0 = rest;
        match digits {
            b"0" if !is_negative => {}
            [b'1'..=b'9', ..] if digits.len() < MOST_DIGITS => {}
            _ => return None,
        }
        // A fraction or an exponent follows.
        (!matches!(rest.first(), Some(b'.' | b'e' | b'E'))).then_some(())
    }

    fn take(&mut self, bytes: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(bytes)?;
        Some(())
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

/// Shorter integers are exact in a double.
const MOST_DIGITS: usize = 16;
