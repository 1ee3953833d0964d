use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
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

/// The family without members: what a side accepts that accepts nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "nothing is nothing")]
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

/// The same family on the heap: parameters are large, and whoever hands a
/// message on then hands on a pointer.
impl<'de, T: Dispatch<'de>> Dispatch<'de> for Box<T> {
    type Tag = T::Tag;

    fn find(name: &str) -> Option<T::Tag> {
        T::find(name)
    }

    fn decode<D: Deserializer<'de>>(tag: T::Tag, body: D) -> Result<Self, D::Error> {
        T::decode(tag, body).map(Self::new)
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
