use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::json::Key;

/// Value of a mirrored parameter in the arguments.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar<'de> {
    /// Missing or null, which the specification treats alike.
    Absent,
    Boolean(bool),
    /// Integer that a double represents exactly.
    Integer(i64),
    Text(Cow<'de, str>),
    /// Value that cannot be sent in a header.
    Other,
}

/// Tree of the paths to the mirrored parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PathTree {
    header: Option<usize>,
    children: BTreeMap<String, Self>,
}

impl PathTree {
    /// Adds the `path` to the parameter of the header with the index `header`.
    pub(super) fn insert<'a>(&mut self, path: impl Iterator<Item = &'a String>, header: usize) {
        let mut node = self;
        for name in path {
            node = node.children.entry(name.clone()).or_default();
        }
        node.header = Some(header);
    }

    /// Reads the mirrored parameters and skips all other members.
    pub(super) fn extract<'a>(
        &self,
        arguments: &'a str,
        found: &mut [Scalar<'a>],
    ) -> serde_json::Result<()> {
        let visitor = ArgumentsVisitor { node: self, found };
        serde_json::Deserializer::from_str(arguments).deserialize_map(visitor)
    }
}

struct ArgumentsVisitor<'n, 'f, 'de> {
    node: &'n PathTree,
    found: &'f mut [Scalar<'de>],
}

impl<'de> DeserializeSeed<'de> for ArgumentsVisitor<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self
            .node
            .header
            .and_then(|header| self.found.get_mut(header))
        {
            Some(slot) => {
                *slot = deserializer.deserialize_any(ScalarVisitor)?;
                Ok(())
            }
            None => deserializer.deserialize_any(self),
        }
    }
}

/// Expects an object. Any other value has no parameters and is skipped.
impl<'de> Visitor<'de> for ArgumentsVisitor<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let mut met = Vec::new();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            let Some((name, node)) = self.node.children.get_key_value(&*key) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            // Readers differ on which of two duplicates counts.
            if met.contains(&name) {
                return Err(de::Error::custom("a mirrored parameter occurs twice"));
            }
            met.push(name);
            let found = &mut *self.found;
            map.next_value_seed(ArgumentsVisitor { node, found })?;
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, seq: S) -> Result<(), S::Error> {
        IgnoredAny.visit_seq(seq).map(drop)
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Absent)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Boolean(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Scalar<'de>, E> {
        Ok(if (-LARGEST_SAFE..=LARGEST_SAFE).contains(&number) {
            Scalar::Integer(number)
        } else {
            Scalar::Other
        })
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Scalar<'de>, E> {
        i64::try_from(number).map_or(Ok(Scalar::Other), |number| self.visit_i64(number))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Scalar<'de>, E> {
        if number.fract() != 0.0 {
            return Ok(Scalar::Other);
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the cast saturates, and saturated values are not safe integers"
        )]
        self.visit_i64(number as i64)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Scalar<'de>, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, seq: S) -> Result<Scalar<'de>, S::Error> {
        IgnoredAny.visit_seq(seq).map(|_| Scalar::Other)
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Scalar<'de>, M::Error> {
        IgnoredAny.visit_map(map).map(|_| Scalar::Other)
    }
}

/// 2^53 − 1. HTTP-B4: a larger integer may not be exact as a double.
const LARGEST_SAFE: i64 = (1 << 53) - 1;
