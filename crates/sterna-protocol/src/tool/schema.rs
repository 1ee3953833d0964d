use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::json::RawObject;

/// JSON Schema whose root has `"type": "object"`, as tool arguments need it.
///
/// # Examples
///
/// ```
/// use serde_json::{Value, json};
/// use sterna_protocol::tool::ObjectSchema;
///
/// let Value::Object(schema) = json!({"type": "object", "required": ["city"]}) else {
///     unreachable!("it is an object");
/// };
/// let schema = ObjectSchema::try_from(schema)?;
/// assert_eq!(schema.as_str(), r#"{"type":"object","required":["city"]}"#);
/// # Ok::<(), sterna_protocol::tool::NotAnObjectSchema>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectSchema(RawObject);

impl ObjectSchema {
    /// The schema as JSON text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Decodes the schema as a `T`, such as `serde_json::Value`.
    ///
    /// # Errors
    ///
    /// The schema is not a `T`.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        self.0.decode()
    }
}

impl Default for ObjectSchema {
    /// Accepts every object.
    fn default() -> Self {
        let any = Map::from_iter([("type".to_owned(), Value::from("object"))]);
        Self(any.into())
    }
}

impl TryFrom<RawObject> for ObjectSchema {
    type Error = NotAnObjectSchema;

    fn try_from(schema: RawObject) -> Result<Self, NotAnObjectSchema> {
        match schema.decode() {
            Ok(SchemaRoot { kind }) if kind == "object" => Ok(Self(schema)),
            _ => Err(NotAnObjectSchema),
        }
    }
}

impl TryFrom<Map<String, Value>> for ObjectSchema {
    type Error = NotAnObjectSchema;

    fn try_from(schema: Map<String, Value>) -> Result<Self, NotAnObjectSchema> {
        RawObject::from(schema).try_into()
    }
}

impl Serialize for ObjectSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ObjectSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(RawObject::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[derive(serde::Deserialize)]
struct SchemaRoot {
    #[serde(rename = "type")]
    kind: String,
}

/// Schema of tool arguments whose root is not `"type": "object"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the root of the schema must have `\"type\": \"object\"`")]
#[non_exhaustive]
pub struct NotAnObjectSchema;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_must_ask_for_an_object() {
        for json in [
            "{}",
            r#"{"type":"array"}"#,
            r#"{"type":["object"]}"#,
            r#"{"type":null}"#,
            r#"{"properties":{"type":"object"}}"#,
            "true",
        ] {
            assert!(
                serde_json::from_str::<ObjectSchema>(json).is_err(),
                "{json}"
            );
        }
    }

    #[test]
    fn the_order_of_its_members_survives() {
        let json = r#"{"type":"object","properties":{"b":{},"a":{}},"$schema":"x"}"#;
        let schema: ObjectSchema = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&schema).unwrap(), json);
    }
}
