//! Numbers, written as ECMAScript writes them.

use super::{CanonicalError, Writer};

impl Writer<'_> {
    pub(super) fn number(&mut self) -> Result<(), CanonicalError> {
        let start = self.at;
        self.pass_number()?;
        let literal = &self.text[start..self.at];
        let is_integer = !literal.contains(['.', 'e', 'E']);
        // JSON has one spelling for an integer without an exponent.
        if is_integer && literal.len() < MAX_DIGITS && literal != "-0" {
            self.out.extend_from_slice(literal.as_bytes());
            return Ok(());
        }
        let double: f64 = literal.parse().unwrap_or(f64::INFINITY);
        if !double.is_finite() {
            return Err(CanonicalError::NumberRange { at: start });
        }
        if is_integer && double != 0.0 {
            self.out.extend_from_slice(literal.as_bytes());
        } else {
            // Rust's own shortest digits round a tie up, ECMAScript's to even.
            let mut buffer = ryu_js::Buffer::new();
            self.out
                .extend_from_slice(buffer.format_finite(double).as_bytes());
        }
        Ok(())
    }

    /// Passes over a number as JSON allows it, and nothing more.
    fn pass_number(&mut self) -> Result<(), CanonicalError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.pass_digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.pass_digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.pass_digits()?;
        }
        Ok(())
    }

    /// Passes over at least one digit.
    fn pass_digits(&mut self) -> Result<(), CanonicalError> {
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit());
        match digits.count() {
            0 => Err(self.syntax()),
            count => {
                self.at += count;
                Ok(())
            }
        }
    }
}

/// The largest double has 309 digits.
const MAX_DIGITS: usize = 309;
