//! Methods: their names, parameters and results, and the families of payloads
//! that a message decodes to.
//!
//! Re-exported by [`methods`](crate::methods), and defined here, below the
//! modules that declare methods.

use serde::de::{DeserializeOwned, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::{Answer, Dispatch};

/// Method of a request: its name, parameters and result.
///
/// # Examples
///
/// ```
/// use sterna_protocol::jsonrpc;
/// use sterna_protocol::methods::RequestMethod;
///
/// fn encode<M: RequestMethod>(id: i64, params: &M::Params) -> serde_json::Result<Vec<u8>> {
///     let mut body = Vec::new();
///     jsonrpc::Request::new(id.into(), M::METHOD, params).encode(&mut body)?;
///     Ok(body)
/// }
/// ```
pub trait RequestMethod {
    /// Name on the wire.
    const METHOD: &'static str;
    /// Type of the parameters.
    type Params: Serialize + DeserializeOwned;
    /// Type of the result.
    type Result: for<'de> Answer<'de>;
}

/// Method of a notification: its name and parameters.
pub trait NotificationMethod {
    /// Name on the wire.
    const METHOD: &'static str;
    /// Type of the parameters.
    type Params: Serialize + DeserializeOwned;
}

/// Two families in one, such as the core protocol and an extension.
///
/// A method of both belongs to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "one or the other")]
pub enum Or<A, B> {
    /// Member of the first family.
    First(A),
    /// Member of the second family.
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

/// Declares methods of requests. Each gets a type without values that ties its
/// name to its parameters and its result.
///
/// ```text
/// requests! {
///     /// Has a tool do something.
///     CallTool = "tools/call": CallToolRequestParams => Outcome<CallToolResult>,
/// }
/// ```
macro_rules! requests {
    ($($(#[$about:meta])* $method:ident = $name:literal: $params:ty => $result:ty,)+) => {
        $(
            $(#[$about])*
            #[doc = concat!("\n\nThe request `", $name, "`.")]
            #[derive(Clone, Copy, Debug)]
            #[non_exhaustive]
            pub enum $method {}

            impl $crate::jsonrpc::method::RequestMethod for $method {
                const METHOD: &'static str = $name;
                type Params = $params;
                type Result = $result;
            }
        )+
    };
}

/// Declares methods of notifications, as [`requests`] does those of requests.
macro_rules! notifications {
    ($($(#[$about:meta])* $method:ident = $name:literal: $params:ty,)+) => {
        $(
            $(#[$about])*
            #[doc = concat!("\n\nThe notification `", $name, "`.")]
            #[derive(Clone, Copy, Debug)]
            #[non_exhaustive]
            pub enum $method {}

            impl $crate::jsonrpc::method::NotificationMethod for $method {
                const METHOD: &'static str = $name;
                type Params = $params;
            }
        )+
    };
}

/// Declares the parameters that one side may receive, distinguished by their
/// method.
///
/// ```text
/// family! {
///     /// What a client asks a server.
///     ClientRequest, ClientMethod: RequestMethod { CallTool, ListTools }
/// }
/// ```
macro_rules! family {
    ($(#[$doc:meta])* $family:ident, $methods:ident: $kind:ident { $($method:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $family {
            $(
                #[doc = concat!("The parameters of [`", stringify!($method), "`](enum@", stringify!($method), ").")]
                $method(<$method as $crate::jsonrpc::method::$kind>::Params),
            )+
        }

        #[doc = concat!("A method of [`", stringify!($family), "`].")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $methods {
            $(
                #[doc = concat!("[`", stringify!($method), "`](enum@", stringify!($method), ")")]
                $method,
            )+
        }

        dispatch!($family, $methods: $kind { $($method),+ });
    };
}

/// Implements the methods and traits of a family.
macro_rules! dispatch {
    ($family:ident, $methods:ident: $kind:ident { $($method:ident),+ }) => {
        impl $family {
            /// The method of the parameters.
            pub fn method(&self) -> $methods {
                match self {
                    $(Self::$method(_) => $methods::$method,)+
                }
            }
        }

        impl $methods {
            /// All methods of the family.
            pub const ALL: &'static [Self] = &[$(Self::$method,)+];

            /// The name on the wire.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$method => <$method as $crate::jsonrpc::method::$kind>::METHOD,)+
                }
            }
        }

        #[cfg(test)]
        impl $crate::laws::Sample for $family {
            fn sample(source: &mut $crate::laws::Source<'_>) -> Self {
                match *source.pick($methods::ALL) {
                    $($methods::$method => Self::$method(source.draw()),)+
                }
            }
        }

        impl serde::Serialize for $family {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$method(params) => params.serialize(serializer),)+
                }
            }
        }

        impl<'de> $crate::jsonrpc::Dispatch<'de> for $family {
            type Tag = $methods;

            fn find(name: &str) -> Option<$methods> {
                match name {
                    $(<$method as $crate::jsonrpc::method::$kind>::METHOD => Some($methods::$method),)+
                    _ => None,
                }
            }

            fn decode<D: serde::Deserializer<'de>>(tag: $methods, body: D) -> Result<Self, D::Error> {
                match tag {
                    $($methods::$method => serde::Deserialize::deserialize(body).map(Self::$method),)+
                }
            }
        }
    };
}
