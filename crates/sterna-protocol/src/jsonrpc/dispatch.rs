use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

/// Family of payload types, distinguished by a name beside the payload.
///
/// The requests that an endpoint accepts are one family: the name is `method`,
/// the body is `params`. The results of a request are another: the name is
/// `resultType`, the body is the whole result. The decoder looks the name up
/// once and passes the body to [`decode`](Self::decode) directly from the text,
/// so that a payload is parsed once and only as its own type.
///
/// If a message has no `params`, the body decodes as an empty object, or as
/// `None` where an `Option` is decoded.
///
/// # Examples
///
/// ```
/// use serde::{Deserialize, Deserializer};
/// use sterna_protocol::jsonrpc::{Dispatch, Message, Nothing};
///
/// enum Vendor {
///     Ping,
///     Add(Vec<i64>),
/// }
///
/// #[derive(Clone, Copy)]
/// enum Method {
///     Ping,
///     Add,
/// }
///
/// #[derive(Deserialize)]
/// struct Numbers {
///     numbers: Vec<i64>,
/// }
///
/// impl<'de> Dispatch<'de> for Vendor {
///     type Tag = Method;
///
///     fn find(name: &str) -> Option<Method> {
///         match name {
///             "com.example/ping" => Some(Method::Ping),
///             "com.example/add" => Some(Method::Add),
///             _ => None,
///         }
///     }
///
///     fn decode<D: Deserializer<'de>>(tag: Method, params: D) -> Result<Self, D::Error> {
///         match tag {
///             Method::Ping => Ok(Self::Ping),
///             Method::Add => Numbers::deserialize(params).map(|p| Self::Add(p.numbers)),
///         }
///     }
/// }
///
/// let body = br#"{"jsonrpc":"2.0","id":1,"method":"com.example/add","params":{"numbers":[1,2]}}"#;
/// match Message::<Vendor, Nothing>::decode(body)? {
///     Message::Request(request) => assert!(matches!(request.params, Vendor::Add(_))),
///     _ => unreachable!("it has a method and an id"),
/// }
/// # Ok::<(), sterna_protocol::jsonrpc::DecodeError>(())
/// ```
pub trait Dispatch<'de>: Sized {
    /// Name of the family, after its lookup.
    type Tag: Copy;

    /// Looks up `name`. `None` if it is not in the family.
    fn find(name: &str) -> Option<Self::Tag>;

    /// Decodes `body` as the type of `tag`.
    ///
    /// # Errors
    ///
    /// The body is not of that type.
    fn decode<D: Deserializer<'de>>(tag: Self::Tag, body: D) -> Result<Self, D::Error>;
}

/// Family without members, for a side that accepts no messages of the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it never has members")]
pub enum Nothing {}

impl<'de> Dispatch<'de> for Nothing {
    type Tag = Self;

    fn find(_: &str) -> Option<Self> {
        None
    }

    fn decode<D: Deserializer<'de>>(tag: Self, _: D) -> Result<Self, D::Error> {
        match tag {}
    }
}

impl Serialize for Nothing {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        match *self {}
    }
}

/// The same family, boxed. Parameters are large, and passing on a message then
/// moves a pointer.
impl<'de, T: Dispatch<'de>> Dispatch<'de> for Box<T> {
    type Tag = T::Tag;

    fn find(name: &str) -> Option<T::Tag> {
        T::find(name)
    }

    fn decode<D: Deserializer<'de>>(tag: T::Tag, body: D) -> Result<Self, D::Error> {
        T::decode(tag, body).map(Self::new)
    }
}

/// Family of all parameters, kept as text.
impl<'de> Dispatch<'de> for Option<&'de RawValue> {
    type Tag = ();

    fn find(_: &str) -> Option<()> {
        Some(())
    }

    fn decode<D: Deserializer<'de>>((): (), body: D) -> Result<Self, D::Error> {
        Self::deserialize(body)?.map(object).transpose()
    }
}

/// Accepts raw text only if it is an object, as every payload of MCP is.
pub(super) fn object<E: de::Error>(raw: &RawValue) -> Result<&RawValue, E> {
    if raw.get().starts_with('{') {
        Ok(raw)
    } else {
        Err(E::custom("not an object"))
    }
}
