use std::convert::Infallible;

use serde::de::Deserializer;

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

/// The family of payloads nobody accepts.
impl<'de> Dispatch<'de> for Infallible {
    type Tag = Self;

    fn find(_: &str) -> Option<Self> {
        None
    }

    fn decode<D: Deserializer<'de>>(tag: Self, _: D) -> Result<Self, D::Error> {
        match tag {}
    }
}

/// What the result of a request decodes into.
///
/// Every [`Dispatch`] family is one, with `resultType` as the name; a result
/// without it is `complete`.
pub trait Answer<'de>: Sized {
    /// Whether a result of this `resultType` can be decoded at all.
    fn knows(result_type: &str) -> bool;

    /// Decodes a whole result.
    ///
    /// # Errors
    ///
    /// It is of a `resultType` that is not known, or not as its type says.
    fn decode<D: Deserializer<'de>>(result: D) -> Result<Self, D::Error>;
}

/// A result of a revision that has no `resultType`, or one whose
/// `resultType` nobody needs to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper and nothing else")]
pub struct Untagged<T>(pub T);
