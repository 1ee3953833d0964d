//! Numbers, written as ECMAScript writes them.

use super::{CanonicalError, Writer};

impl Writer<'_> {
    pub(super) fn number(&mut self) -> Result<(), CanonicalError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(self.syntax()),
        }
        let mut is_integer = true;
        if self.peek() == Some(b'.') {
            is_integer = false;
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            is_integer = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        let literal = &self.text[start..self.at];
        if literal == "-0" {
            self.out.push(b'0');
        } else if is_integer {
            // JSON has one spelling for an integer without an exponent.
            self.out.extend_from_slice(literal.as_bytes());
        } else {
            let double: f64 = literal.parse().unwrap_or(f64::INFINITY);
            if !double.is_finite() {
                return Err(CanonicalError::NumberRange { at: start });
            }
            let mut buffer = ryu_js::Buffer::new();
            let spelled = buffer.format_finite(double);
            self.out.extend_from_slice(spelled.as_bytes());
        }
        Ok(())
    }

    /// Passes over at least one digit.
    fn digits(&mut self) -> Result<(), CanonicalError> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.syntax());
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }
}
