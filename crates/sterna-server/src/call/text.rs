//! Arguments that travel as text: those of prompts, and the variables of URIs.
//!
//! Text is read as the type wants it, so that a member of type `u32` takes `7`
//! from `note://7`. What a type does not name, such as an untagged enum, sees
//! the text itself.

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Map, Value};

/// Reads an object whose members are text.
pub(crate) fn read<T: DeserializeOwned>(value: &Value) -> serde_json::Result<T> {
    T::deserialize(Text(value))
}

/// A value in which text stands for what the type wants to read.
#[derive(Clone, Copy)]
struct Text<'de>(&'de Value);

/// Reads whole numbers, with their range in the error.
macro_rules! whole {
    ($($read:ident $visit:ident $type:ty),+ $(,)?) => {$(
        fn $read<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0 {
                Value::String(text) => match text.parse() {
                    Ok(number) => visitor.$visit(number),
                    Err(_) => Err(de::Error::custom(format_args!(
                        "must be a whole number from {} to {}", <$type>::MIN, <$type>::MAX
                    ))),
                },
                other => other.$read(visitor),
            }
        }
    )+};
}

impl<'de> Deserializer<'de> for Text<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(members) => visitor.visit_map(Members::of(members)),
            other => other.deserialize_any(visitor),
        }
    }

    whole! {
        deserialize_i8 visit_i8 i8, deserialize_i16 visit_i16 i16,
        deserialize_i32 visit_i32 i32, deserialize_i64 visit_i64 i64,
        deserialize_i128 visit_i128 i128, deserialize_u8 visit_u8 u8,
        deserialize_u16 visit_u16 u16, deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64, deserialize_u128 visit_u128 u128,
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::String(text) => match text.parse() {
                Ok(truth) => visitor.visit_bool(truth),
                Err(_) => Err(de::Error::custom("must be `true` or `false`")),
            },
            other => other.deserialize_bool(visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            // Infinity and NaN are numbers to Rust, and none to JSON.
            Value::String(text) => {
                match text.parse().ok().filter(|number: &f64| number.is_finite()) {
                    Some(number) => visitor.visit_f64(number),
                    None => Err(de::Error::custom("must be a number")),
                }
            }
            other => other.deserialize_f64(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::String(text) if !variants.contains(&text.as_str()) => {
                let known = variants.join("`, `");
                Err(de::Error::custom(format_args!("must be one of `{known}`")))
            }
            other => other.deserialize_enum(name, variants, visitor),
        }
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

/// The members of an object, each of which is text.
struct Members<'de> {
    rest: serde_json::map::Iter<'de>,
    next: Option<(&'de str, &'de Value)>,
}

impl<'de> Members<'de> {
    fn of(members: &'de Map<String, Value>) -> Self {
        let rest = members.iter();
        Self { rest, next: None }
    }
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some((name, value)) = self.rest.next() else {
            return Ok(None);
        };
        self.next = Some((name, value));
        let name: StrDeserializer<'_, Error> = name.as_str().into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (name, value) = self.next.take().unwrap_or(("", &Value::Null));
        let read = seed.deserialize(Text(value));
        read.map_err(|error| de::Error::custom(format_args!("`{name}` {error}")))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Unit {
        Metre,
        Mile,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "shown by Debug alone")]
    struct Id(u64);

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "shown by Debug alone")]
    struct Walk {
        id: Id,
        name: String,
        steps: Option<i32>,
        metres: f64,
        done: bool,
        unit: Unit,
        letter: char,
    }

    #[track_caller]
    fn check(change: Value, expected: Expect) {
        let mut value = json!({
            "id": "18446744073709551615", "name": "7", "steps": "-3", "metres": "1.5",
            "done": "true", "unit": "mile", "letter": "x",
        });
        for (name, text) in change.as_object().unwrap() {
            value[name] = text.clone();
        }
        expected.assert_eq(&match read::<Walk>(&value) {
            Ok(walk) => format!("{walk:?}"),
            Err(error) => error.to_string(),
        });
    }

    #[test]
    fn text_is_read_as_the_type_of_its_member() {
        check(
            json!({}),
            expect![[
                r#"Walk { id: Id(18446744073709551615), name: "7", steps: Some(-3), metres: 1.5, done: true, unit: Mile, letter: 'x' }"#
            ]],
        );
    }

    #[test]
    fn text_of_another_type_is_refused_with_its_place_and_without_its_value() {
        check(
            json!({"id": "-1"}),
            expect!["`id` must be a whole number from 0 to 18446744073709551615"],
        );
        check(
            json!({"steps": "2147483648"}),
            expect!["`steps` must be a whole number from -2147483648 to 2147483647"],
        );
        check(
            json!({"metres": "far"}),
            expect!["`metres` must be a number"],
        );
        check(
            json!({"metres": "inf"}),
            expect!["`metres` must be a number"],
        );
        check(
            json!({"done": "yes"}),
            expect!["`done` must be `true` or `false`"],
        );
        check(
            json!({"unit": "foot"}),
            expect!["`unit` must be one of `metre`, `mile`"],
        );
    }
}
