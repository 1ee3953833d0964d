//! JSON that all readers understand alike.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Reads `text`, in which no object may have two members of one name.
///
/// A state is bound to the arguments in their canonical form, and such an
/// object has none: it is refused before anything is done with it.
///
/// # Errors
///
/// It is not JSON, or not of one meaning.
pub(super) fn value(text: &str) -> serde_json::Result<Value> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = Strict.deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(truth.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(Self)? {
            array.push(item);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(Self)?;
            if object.insert(name, value).is_some() {
                return Err(de::Error::custom("two members of one name"));
            }
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
    use sterna_seal::{Binding, Principal, Realm, Target};

    use super::*;

    #[test]
    fn a_name_that_stands_twice_is_refused_at_any_depth() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"[{"b":{"a":1,"c":[],"a":2}}]"#,
        ] {
            assert!(value(text).is_err(), "{text}");
        }
        assert!(value(r#"{"a":{"a":1},"b":{"a":1}}"#).is_ok());
    }

    proptest! {
        #[test]
        fn what_is_read_has_a_canonical_form_and_means_what_it_says(
            text in r#"[\[\]{}",:\\ue0-9.+\- a-ftrn/\n]{0,24}"#,
        ) {
            if let Ok(read) = value(&text) {
                let plain: Value = serde_json::from_str(&text)?;
                prop_assert_eq!(read, plain);
                let realm = Realm::new("", None);
                let target = Target::new("", "");
                let bound = Binding::new(&realm, &Principal::anonymous(), &target, Some(&text));
                prop_assert!(bound.is_ok(), "{}", text);
            }
        }
    }
}
