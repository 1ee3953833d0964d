use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::json::Without;
use crate::jsonrpc::Dispatch;

/// Result of 2026-07-28 that is always complete.
///
/// # Examples
///
/// ```
/// use sterna_protocol::result::{Complete, EmptyResult};
///
/// let text = serde_json::to_string(&Complete(EmptyResult::default()))?;
/// assert_eq!(text, r#"{"resultType":"complete"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper and nothing else")]
pub struct Complete<T>(pub T);

impl<T: Serialize> Serialize for Complete<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_complete(&self.0, serializer)
    }
}

impl<'de, T: Deserialize<'de>> Dispatch<'de> for Complete<T> {
    type Tag = ();

    fn find(name: &str) -> Option<()> {
        (name == "complete").then_some(())
    }

    fn decode<D: Deserializer<'de>>((): (), body: D) -> Result<Self, D::Error> {
        read_complete(body).map(Self)
    }
}

pub(super) fn write_complete<T: Serialize, S: Serializer>(
    result: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    // BASE-S3: every result has a `resultType`.
    #[derive(serde::Serialize)]
    #[serde(tag = "resultType", rename_all = "lowercase")]
    enum WithResultType<'a, T> {
        Complete(&'a T),
    }
    WithResultType::Complete(result).serialize(serializer)
}

/// Reads a result without its `resultType`, which has been checked.
pub(super) fn read_complete<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    body: D,
) -> Result<T, D::Error> {
    body.deserialize_map(CompleteVisitor(PhantomData))
}

struct CompleteVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for CompleteVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        let members = Without {
            name: "resultType",
            map,
        };
        T::deserialize(MapAccessDeserializer::new(members))
    }
}
