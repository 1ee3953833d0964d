use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value};
use thiserror::Error;

use super::RawJson;

/// [`RawJson`] that is an object.
#[derive(Clone, Debug, PartialEq)]
pub struct RawObject(RawJson);

impl RawObject {
    /// The JSON text, without line breaks.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The JSON text, without line breaks and without a copy.
    pub fn into_string(self) -> String {
        self.0.into_string()
    }

    /// Decodes the object as a `T`, which may borrow from it.
    ///
    /// # Errors
    ///
    /// The object is not a `T`.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        self.0.decode()
    }
}

impl Default for RawObject {
    /// Creates an empty object.
    fn default() -> Self {
        Map::new().into()
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(RawJson::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl From<Map<String, Value>> for RawObject {
    fn from(members: Map<String, Value>) -> Self {
        Self(Value::Object(members).into())
    }
}

impl From<RawObject> for RawJson {
    fn from(object: RawObject) -> Self {
        object.0
    }
}

impl TryFrom<RawJson> for RawObject {
    type Error = NotAnObject;

    fn try_from(json: RawJson) -> Result<Self, NotAnObject> {
        json.is_object().then_some(Self(json)).ok_or(NotAnObject)
    }
}

/// JSON that is not an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected an object")]
#[non_exhaustive]
pub struct NotAnObject;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_pass() {
        for json in ["null", "1", "\"{}\"", "[{}]", "true"] {
            assert!(serde_json::from_str::<RawObject>(json).is_err(), "{json}");
        }
        let object: RawObject = serde_json::from_str(r#" { "a": 1 } "#).unwrap();
        assert_eq!(object.as_str(), r#"{ "a": 1 }"#);
        assert_eq!(object.into_string(), r#"{ "a": 1 }"#);
        assert_eq!(RawObject::default().as_str(), "{}");
    }
}
