use serde::de::Deserializer;
use serde::ser::{Serialize, Serializer};

use crate::jsonrpc::Dispatch;

/// Two families side by side, such as the core protocol and an extension.
///
/// A method that both have belongs to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "one or the other")]
pub enum Or<A, B> {
    /// Of the first family.
    First(A),
    /// Of the second family.
    Second(B),
}

impl<'de, A: Dispatch<'de>, B: Dispatch<'de>> Dispatch<'de> for Or<A, B> {
    type Tag = Or<A::Tag, B::Tag>;

    fn find(name: &str) -> Option<Self::Tag> {
        match A::find(name) {
            Some(tag) => Some(Or::First(tag)),
            None => B::find(name).map(Or::Second),
        }
    }

    fn decode<D: Deserializer<'de>>(tag: Self::Tag, body: D) -> Result<Self, D::Error> {
        match tag {
            Or::First(tag) => A::decode(tag, body).map(Self::First),
            Or::Second(tag) => B::decode(tag, body).map(Self::Second),
        }
    }
}

impl<A: Serialize, B: Serialize> Serialize for Or<A, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::First(first) => first.serialize(serializer),
            Self::Second(second) => second.serialize(serializer),
        }
    }
}
