use std::convert::Infallible;

use serde::de::{self, Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A family of payloads, told apart by a name that stands beside them.
///
/// The requests an endpoint accepts are one family: the name is `method`, the
/// body is `params`. The results a request may have are another: the name is
/// `resultType`, the body the whole result. The reader looks the name up once
/// and hands the body to [`decode`](Self::decode) straight from the text, so a
/// payload is neither parsed twice nor tried against types it is not.
///
/// `params` may be left out of a message. The body then decodes as an empty
/// object, or as `None` where an `Option` is decoded.
pub trait Dispatch<'de>: Sized {
    /// A name that has been found to belong to the family.
    type Tag: Copy;

    /// Finds `name` in the family; `None` if this side does not know it.
    fn find(name: &str) -> Option<Self::Tag>;

    /// Decodes `body` as the type that `tag` stands for.
    ///
    /// # Errors
    ///
    /// The body is not of that type.
    fn decode<D: Deserializer<'de>>(tag: Self::Tag, body: D) -> Result<Self, D::Error>;
}

/// The family of payloads that nobody accepts.
impl<'de> Dispatch<'de> for Infallible {
    type Tag = Self;

    fn find(_: &str) -> Option<Self> {
        None
    }

    fn decode<D: Deserializer<'de>>(tag: Self, _: D) -> Result<Self, D::Error> {
        match tag {}
    }
}

/// The family of all parameters, kept as text.
impl<'de> Dispatch<'de> for Option<&'de RawValue> {
    type Tag = ();

    fn find(_: &str) -> Option<()> {
        Some(())
    }

    fn decode<D: Deserializer<'de>>((): (), body: D) -> Result<Self, D::Error> {
        Self::deserialize(body)?.map(object).transpose()
    }
}

/// Keeps raw text only if it is an object, as every payload of MCP is.
pub(super) fn object<E: de::Error>(raw: &RawValue) -> Result<&RawValue, E> {
    if raw.get().starts_with('{') {
        Ok(raw)
    } else {
        Err(E::custom("not an object"))
    }
}
