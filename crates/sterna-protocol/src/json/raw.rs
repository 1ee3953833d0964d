use std::fmt;

use memchr::memchr2;
use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// JSON that is carried without being looked into.
///
/// Keeps the sender's text: member order, digits and spelling survive. The
/// text is always a single line, so it can go into any frame.
///
/// Two of them are equal if they are the same JSON value, whatever the
/// spelling.
#[derive(Clone)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// Writes `value` down as JSON.
    ///
    /// # Errors
    ///
    /// The value has no JSON form, such as a map whose keys are not strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Self> {
        serde_json::value::to_raw_value(value).and_then(Self::one_line)
    }

    /// Takes `text` over if it is JSON.
    ///
    /// # Errors
    ///
    /// It is not one JSON value.
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

    /// Reads the text as a `T`, which may borrow from it.
    ///
    /// # Errors
    ///
    /// The JSON is not a `T`.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        serde_json::from_str(self.as_str())
    }

    /// Whether this is the value `null`.
    pub fn is_null(&self) -> bool {
        self.as_str() == "null"
    }

    /// Whether this is an object.
    pub fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }

    fn one_line(raw: Box<RawValue>) -> serde_json::Result<Self> {
        if memchr2(b'\n', b'\r', raw.get().as_bytes()).is_none() {
            return Ok(Self(raw));
        }
        // Inside a string a line break must be escaped, so these only separate tokens.
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
        // Text nested too deeply to be a value is equal to itself only.
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
