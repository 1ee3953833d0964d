use std::fmt;

use memchr::memchr2;
use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// JSON that is kept as text.
///
/// Member order, digits and spelling are those of the sender. The text is
/// always a single line, so that it fits every framing.
///
/// Two values are equal if they are the same JSON value, even if spelled
/// differently.
#[derive(Clone)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// Serializes `value`.
    ///
    /// # Errors
    ///
    /// The value has no JSON form, such as a map whose keys are not strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Self> {
        serde_json::value::to_raw_value(value).and_then(Self::one_line)
    }

    /// Takes over `text` after checking that it is JSON.
    ///
    /// # Errors
    ///
    /// The text is not one JSON value.
    pub fn parse(text: impl Into<String>) -> serde_json::Result<Self> {
        RawValue::from_string(text.into()).and_then(Self::one_line)
    }

    /// The JSON text, without line breaks.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The JSON text, without line breaks and without a copy.
    pub fn into_string(self) -> String {
        Box::<str>::from(self.0).into_string()
    }

    /// Decodes the text as a `T`, which may borrow from it.
    ///
    /// # Errors
    ///
    /// The JSON is not a `T`.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        serde_json::from_str(self.as_str())
    }

    /// Returns true for `null`.
    pub fn is_null(&self) -> bool {
        self.as_str() == "null"
    }

    /// Returns true for an object.
    pub fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }

    /// Takes over raw text; `None` if it has no single line.
    pub(crate) fn from_raw(raw: &RawValue) -> Option<Self> {
        Self::one_line(raw.to_owned()).ok()
    }

    fn one_line(raw: Box<RawValue>) -> serde_json::Result<Self> {
        if memchr2(b'\n', b'\r', raw.get().as_bytes()).is_none() {
            return Ok(Self(raw));
        }
        // Strings escape their line breaks, so these are between tokens.
        let text = raw.get().replace(['\n', '\r'], " ");
        RawValue::from_string(text).map(Self)
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        if self.as_str() == other.as_str() {
            return true;
        }
        // Text that is nested too deeply to decode equals only the same text.
        matches!((self.decode::<Value>(), other.decode::<Value>()), (Ok(a), Ok(b)) if a == b)
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::one_line(raw).map_err(de::Error::custom)
    }
}

impl From<Value> for RawJson {
    fn from(value: Value) -> Self {
        Self::of(&value).expect("a value has string keys and finite numbers only")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_senders_spelling_survives() {
        let text = r#"{"b": 1e2, "a": [1.50, "\u00e9"]}"#;
        let json: RawJson = serde_json::from_str(text).unwrap();
        assert_eq!(json.as_str(), text);
        assert_eq!(serde_json::to_string(&json).unwrap(), text);
    }

    #[test]
    fn line_breaks_between_tokens_become_spaces() {
        let json = RawJson::parse("{\r\n  \"a\": \"x\\ny\"\n}\n").unwrap();
        assert_eq!(json.as_str(), r#"{    "a": "x\ny" }"#);
        let json: RawJson = serde_json::from_str("[1,\n2]").unwrap();
        assert_eq!(json.as_str(), "[1, 2]");
    }

    #[test]
    fn equality_is_of_the_value() {
        let equal = |a, b| RawJson::parse(a).unwrap() == RawJson::parse(b).unwrap();
        assert!(equal(r#"{"a":1,"b":2}"#, r#"{ "b": 2, "a": 1 }"#));
        assert!(equal(r#""\u0041""#, r#""A""#));
        assert!(!equal("1", "2"));
        assert!(!equal("[1,2]", "[2,1]"));
    }

    #[test]
    fn text_nested_without_end_is_carried_and_equals_itself() {
        let text = "[".repeat(100_000) + &"]".repeat(100_000);
        let json = RawJson::parse(text.clone()).unwrap();
        assert_eq!(json, RawJson::parse(text).unwrap());
        assert!(json.decode::<Value>().is_err());
    }
}
