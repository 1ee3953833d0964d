use std::cmp::Ordering;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use thiserror::Error;

/// JSON number: an integer of up to 64 bits or a finite double.
///
/// Integers stay integers: a progress of `50` is not written as `50.0`, and a
/// bound of 2⁶³ − 1 is not rounded. Comparison is by value.
#[derive(Clone, Copy)]
pub struct Number(Repr);

#[derive(Clone, Copy)]
enum Repr {
    Signed(i64),
    Unsigned(u64),
    /// Neither infinite nor NaN.
    Float(f64),
}

impl Number {
    /// The nearest double.
    pub fn as_f64(self) -> f64 {
        match self.0 {
            Repr::Signed(integer) => integer as f64,
            Repr::Unsigned(integer) => integer as f64,
            Repr::Float(float) => float,
        }
    }

    /// The value as an integer, whether written `7` or `7.0`.
    pub fn as_i64(self) -> Option<i64> {
        match self.0 {
            Repr::Signed(integer) => Some(integer),
            Repr::Unsigned(integer) => i64::try_from(integer).ok(),
            Repr::Float(float) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "the cast saturates, and a saturated one is compared again"
                )]
                let integer = float as i64;
                (Self::from(integer) == self).then_some(integer)
            }
        }
    }

    /// Returns true for whole numbers, such as `7` and `7.0`.
    pub fn is_integer(self) -> bool {
        match self.0 {
            Repr::Signed(_) | Repr::Unsigned(_) => true,
            Repr::Float(float) => float.fract() == 0.0,
        }
    }
}

impl Repr {
    /// The value without rounding: an integer or a double.
    fn exact(self) -> Result<i128, f64> {
        match self {
            Self::Signed(integer) => Ok(integer.into()),
            Self::Unsigned(integer) => Ok(integer.into()),
            Self::Float(float) => Err(float),
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0.exact(), other.0.exact()) {
            (Ok(a), Ok(b)) => a.cmp(&b),
            (Ok(a), Err(b)) => integer_to_float(a, b),
            (Err(a), Ok(b)) => integer_to_float(b, a).reverse(),
            // Zero has two signs but one value.
            (Err(a), Err(b)) if a == b => Ordering::Equal,
            (Err(a), Err(b)) => a.total_cmp(&b),
        }
    }
}

/// Compares without rounding the integer.
fn integer_to_float(integer: i128, float: f64) -> Ordering {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the cast saturates far beyond any integer that is compared here"
    )]
    let whole = float.trunc() as i128;
    integer
        .cmp(&whole)
        .then_with(|| 0.0_f64.total_cmp(&(float.fract() + 0.0)))
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Repr::Signed(integer) => integer.fmt(f),
            Repr::Unsigned(integer) => integer.fmt(f),
            Repr::Float(float) => write!(f, "{float:?}"),
        }
    }
}

macro_rules! from_integers {
    ($($integer:ty => $repr:ident,)*) => {
        $(impl From<$integer> for Number {
            fn from(integer: $integer) -> Self {
                Self(Repr::$repr(integer.into()))
            }
        })*
    };
}

from_integers!(i8 => Signed, i16 => Signed, i32 => Signed, i64 => Signed,);
from_integers!(u8 => Unsigned, u16 => Unsigned, u32 => Unsigned, u64 => Unsigned,);

impl TryFrom<f64> for Number {
    type Error = NotFinite;

    fn try_from(float: f64) -> Result<Self, NotFinite> {
        float
            .is_finite()
            .then_some(Self(Repr::Float(float)))
            .ok_or(NotFinite)
    }
}

/// Double without a JSON form: infinite or NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not a finite number")]
#[non_exhaustive]
pub struct NotFinite;

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Repr::Signed(integer) => serializer.serialize_i64(integer),
            Repr::Unsigned(integer) => serializer.serialize_u64(integer),
            Repr::Float(float) => serializer.serialize_f64(float),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_i64<E>(self, integer: i64) -> Result<Number, E> {
        Ok(integer.into())
    }

    fn visit_u64<E>(self, integer: u64) -> Result<Number, E> {
        Ok(integer.into())
    }

    fn visit_f64<E: de::Error>(self, float: f64) -> Result<Number, E> {
        Number::try_from(float).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn integers_and_doubles_are_written_as_they_were_read() {
        for text in ["50", "50.0", "-1", "0.1", "18446744073709551615", "1e+300"] {
            assert_eq!(serde_json::to_string(&number(text)).unwrap(), text);
        }
    }

    #[test]
    fn comparison_rounds_nothing() {
        assert_eq!(number("50"), number("50.0"));
        assert_eq!(number("0"), number("-0.0"));
        assert!(number("9223372036854775807") < number("9223372036854775808.0"));
        assert!(number("9007199254740993") > number("9007199254740992.0"));
        assert!(number("-2") < number("-1.5"));
        assert!(number("-1") > number("-1.5"));
        assert!(number("1") < number("1.5"));
        assert!(number("18446744073709551615") < number("1e300"));
    }

    #[test]
    fn whole_doubles_are_integers() {
        assert_eq!(number("7.0").as_i64(), Some(7));
        assert_eq!(number("7.5").as_i64(), None);
        assert_eq!(number("9223372036854775808.0").as_i64(), None);
        assert_eq!(number("18446744073709551615").as_i64(), None);
        assert!(number("1e300").is_integer());
    }

    #[test]
    fn what_json_cannot_say_is_no_number() {
        assert_eq!(Number::try_from(f64::NAN), Err(NotFinite));
        assert_eq!(Number::try_from(f64::NEG_INFINITY), Err(NotFinite));
        for json in ["null", "\"1\"", "[1]", "true"] {
            assert!(serde_json::from_str::<Number>(json).is_err(), "{json}");
        }
    }
}
