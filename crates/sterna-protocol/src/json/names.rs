use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Visitor};

/// Name that this revision of the protocol does not define.
///
/// Made by its enum only, so that a known name never has two forms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OtherName(Box<str>);

impl OtherName {
    pub(crate) fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// The name on the wire.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Assigns wire names to the variants of an enum.
///
/// The enum has one more variant, `Other(OtherName)`, for names that are not in
/// the table.
macro_rules! names {
    ($type:ident { $($variant:ident = $name:literal,)+ }) => {
        impl $type {
            /// The name on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Other(name) => name.as_str(),
                }
            }
        }

        impl From<&str> for $type {
            fn from(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)+
                    _ => Self::Other($crate::json::OtherName::new(name)),
                }
            }
        }

        #[cfg(test)]
        impl $crate::laws::Sample for $type {
            fn sample(source: &mut $crate::laws::Source<'_>) -> Self {
                Self::from(source.name(&[$($name,)+]).as_str())
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::json::read_name(deserializer)
            }
        }
    };
}

/// Reads a string as one of the names of `T`.
pub(crate) fn read_name<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: for<'a> From<&'a str>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_str(NameVisitor(PhantomData))
}

struct NameVisitor<T>(PhantomData<T>);

impl<T: for<'a> From<&'a str>> Visitor<'_> for NameVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, name: &str) -> Result<T, E> {
        Ok(T::from(name))
    }
}
