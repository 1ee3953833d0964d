use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

/// Id that ties a response to its request: a string or an integer, never null.
///
/// A peer that has only doubles may write the integer 7 as `7.0` or `7e0`. Both
/// are read as 7 and written as `7`.
///
/// An id of more than [`MAX_BYTES`](Self::MAX_BYTES) is refused: it is stored
/// while its request runs and repeated in every message about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "JSON-RPC has no other kind of id, and MCP excludes null"
)]
pub enum RequestId {
    /// Text; may be empty.
    String(String),
    /// Integer.
    Integer(i64),
}

impl RequestId {
    /// Largest length of a text id, in bytes. Usual ids are numbers or some
    /// tens of characters; the sealed ids of this workspace take some hundreds.
    pub const MAX_BYTES: usize = 1024;
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String(text) => f.write_str(text),
            Self::Integer(number) => number.fmt(f),
        }
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for RequestId {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<i64> for RequestId {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::String(text) => serializer.serialize_str(text),
            Self::Integer(number) => serializer.serialize_i64(*number),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = RequestId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an integer")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<RequestId, E> {
        if text.len() > RequestId::MAX_BYTES {
            return Err(E::invalid_length(text.len(), &"at most 1024 bytes"));
        }
        Ok(RequestId::String(text.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<RequestId, E> {
        Ok(RequestId::Integer(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<RequestId, E> {
        i64::try_from(number)
            .map(RequestId::Integer)
            .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<RequestId, E> {
        // From 2^53 on a double stands for several integers, so an echoed id
        // might not be the one that was sent.
        if number.fract() == 0.0 && number.abs() <= LARGEST_EXACT {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a whole number below 2^53 fits"
            )]
            let whole = number as i64;
            Ok(RequestId::Integer(whole))
        } else {
            Err(E::invalid_value(de::Unexpected::Float(number), &self))
        }
    }
}

/// 2^53 − 1. A double beyond it stands for several integers.
const LARGEST_EXACT: f64 = 9_007_199_254_740_991.0;

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Expect) {
        expected.assert_eq(&match serde_json::from_str::<RequestId>(json) {
            Ok(id) => format!("{id:?} -> {}", serde_json::to_string(&id).unwrap()),
            Err(error) => error.to_string(),
        });
    }

    #[test]
    fn strings_and_integers_are_ids() {
        check("7", expect!["Integer(7) -> 7"]);
        check(
            "-9223372036854775808",
            expect!["Integer(-9223372036854775808) -> -9223372036854775808"],
        );
        check(
            "9223372036854775807",
            expect!["Integer(9223372036854775807) -> 9223372036854775807"],
        );
        check(r#""""#, expect![[r#"String("") -> """#]]);
        check(r#""caf\u00e9""#, expect![[r#"String("café") -> "café""#]]);
    }

    #[test]
    fn a_whole_number_in_float_form_is_that_integer() {
        check("7.0", expect!["Integer(7) -> 7"]);
        check("-0.0", expect!["Integer(0) -> 0"]);
        check("12e3", expect!["Integer(12000) -> 12000"]);
        check(
            "9007199254740991.0",
            expect!["Integer(9007199254740991) -> 9007199254740991"],
        );
    }

    #[test]
    fn a_float_that_names_no_single_integer_is_refused() {
        check(
            "7.5",
            expect![
                "invalid value: floating point `7.5`, expected a string or an integer at line 1 column 3"
            ],
        );
        check(
            "9007199254740992.0",
            expect![
                "invalid value: floating point `9007199254740992.0`, expected a string or an integer at line 1 column 18"
            ],
        );
        check(
            "1e300",
            expect![
                "invalid value: floating point `1e+300`, expected a string or an integer at line 1 column 5"
            ],
        );
    }

    #[test]
    fn a_text_that_is_too_long_is_refused() {
        let text = |length: usize| format!("\"{}\"", "x".repeat(length));
        let longest = text(RequestId::MAX_BYTES);
        assert!(serde_json::from_str::<RequestId>(&longest).is_ok());
        check(
            &text(RequestId::MAX_BYTES + 1),
            expect!["invalid length 1025, expected at most 1024 bytes at line 1 column 1027"],
        );
    }

    #[test]
    fn null_and_everything_else_is_no_id() {
        check(
            "null",
            expect!["invalid type: null, expected a string or an integer at line 1 column 4"],
        );
        check(
            "true",
            expect![
                "invalid type: boolean `true`, expected a string or an integer at line 1 column 4"
            ],
        );
        check(
            "[1]",
            expect!["invalid type: sequence, expected a string or an integer at line 1 column 1"],
        );
        check(
            "9223372036854775808",
            expect![
                "invalid value: integer `9223372036854775808`, expected a string or an integer at line 1 column 19"
            ],
        );
    }
}
