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
            self.out.extend_from_slice(spell(double).as_bytes());
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

/// A finite double as `Number::toString` of ECMAScript spells it.
///
/// Rust finds the same digits, the fewest that read back as this double and of
/// those the nearest; only where the point goes is another matter.
fn spell(double: f64) -> String {
    if double == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{double:e}");
    let (mantissa, exponent) = text.split_once('e').expect("asked for an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a small integer");
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => ("-", mantissa),
        None => ("", mantissa),
    };
    let digits = mantissa.replace('.', "");
    match usize::try_from(exponent) {
        Ok(zeros) if zeros < 21 && zeros + 1 >= digits.len() => {
            format!("{sign}{digits:0<width$}", width = zeros + 1)
        }
        Ok(whole) if whole < 21 => {
            let (whole, fraction) = digits.split_at(whole + 1);
            format!("{sign}{whole}.{fraction}")
        }
        Err(_) if exponent >= -6 => {
            let zeros = exponent.unsigned_abs() as usize - 1;
            format!("{sign}0.{:0<zeros$}{digits}", "")
        }
        _ => {
            let plus = if exponent > 0 { "+" } else { "" };
            format!("{sign}{mantissa}e{plus}{exponent}")
        }
    }
}

/// The largest double has 309 digits.
const MAX_DIGITS: usize = 309;
