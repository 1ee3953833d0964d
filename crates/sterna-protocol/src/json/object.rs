use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, MapAccess};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Key, Members, RawJson, read_object, write_object};

/// Object with members that this crate does not interpret: settings of an
/// extension, metadata of a vendor, members of a later revision.
///
/// Member values keep their text. An empty object takes one pointer and no
/// allocation, so that every wire struct can have one.
///
/// # Examples
///
/// ```
/// use sterna_protocol::json::{JsonObject, RawJson};
///
/// let mut settings: JsonObject = serde_json::from_str(r#"{"com.example/a":[1, 2]}"#)?;
/// settings.insert("com.example/b", RawJson::of("text")?);
///
/// let list: Vec<u8> = settings.get("com.example/a").unwrap().decode()?;
/// assert_eq!(list, [1, 2]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct JsonObject(
    /// Never `Some` of an empty map.
    #[expect(clippy::box_collection, reason = "a third of the size when empty")]
    Option<Box<BTreeMap<String, RawJson>>>,
);

impl JsonObject {
    /// Creates an object without members.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Returns true if the object has no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |members| members.len())
    }

    /// The value of the member `name`.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.0.as_ref()?.get(name)
    }

    /// Sets the member `name` and returns its previous value.
    pub fn insert(&mut self, name: impl Into<String>, value: RawJson) -> Option<RawJson> {
        self.0.get_or_insert_default().insert(name.into(), value)
    }

    /// Removes the member `name` and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<RawJson> {
        let members = self.0.as_mut()?;
        let value = members.remove(name);
        if members.is_empty() {
            self.0 = None;
        }
        value
    }

    /// The members in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        let members = self.0.iter().flat_map(|members| members.iter());
        members.map(|(name, value)| (name.as_str(), value))
    }

    /// Reads the value of the member `key` from `map`.
    pub(crate) fn take<'de, A: MapAccess<'de>>(
        &mut self,
        key: Key<'de>,
        map: &mut A,
    ) -> Result<(), A::Error> {
        // Readers differ on which of two duplicates counts, so neither does.
        if self.get(&key).is_some() {
            let twice = format_args!("duplicate field `{}`", &*key);
            return Err(de::Error::custom(twice));
        }
        let value = map.next_value()?;
        self.insert(key.into_string(), value);
        Ok(())
    }

    /// Decodes the object as a `T`.
    pub(crate) fn decode<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(&serde_json::to_string(self)?)
    }
}

impl fmt::Debug for JsonObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Into<String>> FromIterator<(K, RawJson)> for JsonObject {
    fn from_iter<I: IntoIterator<Item = (K, RawJson)>>(members: I) -> Self {
        let mut object = Self::new();
        for (name, value) in members {
            object.insert(name, value);
        }
        object
    }
}

impl Members for JsonObject {
    const EXPECTED: &'static str = "an object";

    fn read<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut object = Self::new();
        while let Some(key) = map.next_key()? {
            object.take(key, &mut map)?;
        }
        Ok(object)
    }

    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))
    }
}

impl Serialize for JsonObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_object(self, serializer)
    }
}

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_object(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_survive_with_their_text() {
        let text = r#"{"a":{"z": 1.0,"y":[]},"b\n":null}"#;
        let object: JsonObject = serde_json::from_str(text).unwrap();
        assert_eq!(object.len(), 2);
        assert_eq!(object.get("a").unwrap().as_str(), r#"{"z": 1.0,"y":[]}"#);
        assert_eq!(serde_json::to_string(&object).unwrap(), text);
    }

    #[test]
    fn an_emptied_object_equals_a_new_one() {
        let mut object = JsonObject::from_iter([("a", RawJson::parse("1").unwrap())]);
        assert!(object.remove("b").is_none());
        assert!(object.remove("a").is_some());
        assert_eq!(object, JsonObject::new());
        assert!(object.is_empty());
    }

    #[test]
    fn a_name_that_stands_twice_is_refused() {
        let error = serde_json::from_str::<JsonObject>(r#"{"a":1,"\u0061":2}"#).unwrap_err();
        assert_eq!(error.to_string(), "duplicate field `a` at line 1 column 15");
    }
}
