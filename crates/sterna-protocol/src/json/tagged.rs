use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use super::{JsonObject, Key};

/// Union of object types, distinguished by one member.
pub(crate) trait Tagged: Sized {
    /// Name of that member.
    const TAG: &'static str;

    /// Decodes `object`, which still holds the tag, as the type that `tag`
    /// names. `tag` is `None` if the member is missing.
    fn decode<'de, D: Deserializer<'de>>(tag: Option<&str>, object: D) -> Result<Self, D::Error>;
}

/// Implements `Serialize` for a union, and `From` for each of its types.
macro_rules! variants {
    ($union:ident { $($variant:ident($type:ty)),+ $(,)? }) => {
        impl serde::Serialize for $union {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(value) => serde::Serialize::serialize(value, serializer),)+
                }
            }
        }

        $(impl From<$type> for $union {
            fn from(value: $type) -> Self {
                Self::$variant(value)
            }
        })+
    };
}

/// Reads a union in one pass if its tag comes first, as it usually does, and by
/// way of raw members otherwise.
pub(crate) fn read_tagged<'de, T: Tagged, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_map(TaggedVisitor(PhantomData))
}

struct TaggedVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged> Visitor<'de> for TaggedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with a member `{}`", T::TAG)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut members = JsonObject::new();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            if &*key == T::TAG && members.is_empty() {
                let tag: Key<'de> = map.next_value()?;
                let object = TaggedMembers {
                    tag: &tag,
                    state: TagState::Name(T::TAG),
                    map,
                };
                return T::decode(Some(&tag), MapAccessDeserializer::new(object));
            }
            members.take(key, &mut map)?;
        }
        detour(&members).map_err(de::Error::custom)
    }
}

fn detour<T: Tagged>(members: &JsonObject) -> serde_json::Result<T> {
    let tag: Option<Key<'_>> = match members.get(T::TAG) {
        Some(tag) => Some(tag.decode()?),
        None => None,
    };
    let text = serde_json::to_string(members)?;
    T::decode(
        tag.as_deref(),
        &mut serde_json::Deserializer::from_str(&text),
    )
}

/// Members of an object whose first member, the tag, has been read.
struct TaggedMembers<'t, A> {
    tag: &'t str,
    state: TagState,
    map: A,
}

enum TagState {
    Name(&'static str),
    Value,
    Read,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for TaggedMembers<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let TagState::Name(name) = self.state else {
            return self.map.next_key_seed(seed);
        };
        self.state = TagState::Value;
        seed.deserialize(StrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        if let TagState::Value = self.state {
            self.state = TagState::Read;
            return seed.deserialize(TagText(self.tag, PhantomData));
        }
        self.map.next_value_seed(seed)
    }
}

/// Value of a tag, readable as text or as raw JSON.
struct TagText<'t, E>(&'t str, PhantomData<E>);

impl<'de, E: de::Error> Deserializer<'de> for TagText<'_, E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_str(self.0)
    }

    // Raw JSON is read as a newtype struct with a private name of serde_json.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, E> {
        Value::from(self.0)
            .deserialize_newtype_struct(name, visitor)
            .map_err(E::custom)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string
        bytes byte_buf option unit unit_struct seq tuple tuple_struct map struct
        enum identifier ignored_any
    }
}

/// Members of an object except one.
pub(crate) struct Without<A> {
    pub(crate) name: &'static str,
    pub(crate) map: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Without<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key::<Key<'de>>()? {
            if &*key != self.name {
                return seed.deserialize(StrDeserializer::new(&key)).map(Some);
            }
            self.map.next_value::<IgnoredAny>()?;
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}
