use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, IgnoredAny, IntoDeserializer, MapAccess, Visitor,
};
use serde_json::value::RawValue;

use super::body::MapBody;
use super::dispatch::{Dispatch, object};
use crate::json::Key;

/// Type that the result of a request decodes to.
///
/// Implemented by every [`Dispatch`] family: its names are values of
/// `resultType`, and only that member selects the type. A result without it is
/// `complete`. A name outside of the family is refused.
pub trait Answer<'de>: Sized {
    /// Returns true if a result of this `resultType` can be decoded.
    fn knows(result_type: &str) -> bool;

    /// Decodes a whole result.
    ///
    /// # Errors
    ///
    /// The `resultType` is unknown, or the result is not of its type.
    fn read<D: Deserializer<'de>>(result: D) -> Result<Self, D::Error>;
}

impl<'de, F: Dispatch<'de>> Answer<'de> for F {
    fn knows(result_type: &str) -> bool {
        F::find(result_type).is_some()
    }

    fn read<D: Deserializer<'de>>(result: D) -> Result<Self, D::Error> {
        result.deserialize_map(ByResultType(PhantomData))
    }
}

/// Any result, kept as text.
impl<'de> Answer<'de> for &'de RawValue {
    fn knows(_: &str) -> bool {
        true
    }

    fn read<D: Deserializer<'de>>(result: D) -> Result<Self, D::Error> {
        Self::deserialize(result).and_then(object)
    }
}

/// Any result, ignored: for a side that sends no requests.
impl<'de> Answer<'de> for IgnoredAny {
    fn knows(_: &str) -> bool {
        true
    }

    fn read<D: Deserializer<'de>>(result: D) -> Result<Self, D::Error> {
        Self::deserialize(result)
    }
}

/// Result of one type with any `resultType`, for revisions without that member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper and nothing else")]
pub struct Untagged<T>(pub T);

impl<'de, T: Deserialize<'de>> Answer<'de> for Untagged<T> {
    fn knows(_: &str) -> bool {
        true
    }

    fn read<D: Deserializer<'de>>(result: D) -> Result<Self, D::Error> {
        T::deserialize(result).map(Self)
    }
}

/// Returns the `resultType` of `result`, or its default.
pub(super) fn result_type(result: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(rename = "resultType", borrow)]
        result_type: Option<&'a RawValue>,
    }
    let head: Head<'_> = serde_json::from_str(result.get()).ok()?;
    match head.result_type {
        Some(name) => Some(serde_json::from_str::<Key<'_>>(name.get()).ok()?.into_cow()),
        None => Some(Cow::Borrowed(COMPLETE)),
    }
}

const RESULT_TYPE: &str = "resultType";
const COMPLETE: &str = "complete";

/// Decodes the members after `resultType` directly. Members before it are kept
/// as text and decoded first.
struct ByResultType<F>(PhantomData<F>);

impl<'de, F: Dispatch<'de>> Visitor<'de> for ByResultType<F> {
    type Value = F;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<F, M::Error> {
        let mut before = Vec::new();
        let result_type = loop {
            match map.next_key::<Key<'de>>()? {
                Some(key) if &*key == RESULT_TYPE => {
                    break Some(map.next_value::<Key<'de>>()?.into_cow());
                }
                Some(key) => before.push((key.into_cow(), map.next_value()?)),
                None => break None,
            }
        };
        // BASE-C3: earlier revisions do not have the member.
        let name = result_type.as_deref().unwrap_or(COMPLETE);
        let tag = F::find(name).ok_or_else(|| de::Error::custom("unknown resultType"))?;
        let whole = ReassembledResult {
            before: before.into_iter(),
            rest: result_type.is_some().then_some(map),
            result_type,
            value: NextValue::None,
        };
        F::decode(tag, MapBody(whole))
    }
}

/// Result with its `resultType` put back in place.
struct ReassembledResult<'de, M> {
    before: std::vec::IntoIter<(Cow<'de, str>, &'de RawValue)>,
    result_type: Option<Cow<'de, str>>,
    rest: Option<M>,
    value: NextValue<'de>,
}

/// Source of the value for the last key.
enum NextValue<'de> {
    None,
    Before(&'de RawValue),
    Rest,
    ResultType(Cow<'de, str>),
}

impl<'de, M: MapAccess<'de>> MapAccess<'de> for ReassembledResult<'de, M> {
    type Error = M::Error;

    fn next_key_seed<K>(&mut self, seed: K) -> Result<Option<K::Value>, M::Error>
    where
        K: DeserializeSeed<'de>,
    {
        let key = if let Some((key, value)) = self.before.next() {
            self.value = NextValue::Before(value);
            key
        } else if let Some(name) = self.result_type.take() {
            self.value = NextValue::ResultType(name);
            Cow::Borrowed(RESULT_TYPE)
        } else if let Some(key) = self.next_of_rest()? {
            if &*key == RESULT_TYPE {
                return Err(de::Error::duplicate_field(RESULT_TYPE));
            }
            self.value = NextValue::Rest;
            key.into_cow()
        } else {
            return Ok(None);
        };
        feed(seed, key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, M::Error> {
        match (
            std::mem::replace(&mut self.value, NextValue::None),
            &mut self.rest,
        ) {
            (NextValue::Before(raw), _) => seed.deserialize(raw).map_err(de::Error::custom),
            (NextValue::ResultType(name), _) => feed(seed, name),
            (NextValue::Rest, Some(rest)) => rest.next_value_seed(seed),
            (NextValue::Rest, None) | (NextValue::None, _) => {
                Err(de::Error::custom("a value without a key"))
            }
        }
    }
}

impl<'de, M: MapAccess<'de>> ReassembledResult<'de, M> {
    fn next_of_rest(&mut self) -> Result<Option<Key<'de>>, M::Error> {
        self.rest.as_mut().map_or(Ok(None), MapAccess::next_key)
    }
}

fn feed<'de, S, E>(seed: S, text: Cow<'de, str>) -> Result<S::Value, E>
where
    S: DeserializeSeed<'de>,
    E: de::Error,
{
    match text {
        Cow::Borrowed(text) => seed.deserialize(BorrowedStrDeserializer::new(text)),
        Cow::Owned(text) => seed.deserialize(text.into_deserializer()),
    }
}
