use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};

#[cfg(doc)]
use super::JsonObject;
use super::Key;

/// Declares a wire struct: its fields, each with the member that it is on the
/// wire, and its constructor, if that only takes the required fields.
///
/// ```text
/// wire! {
///     /// Directory or file that the client works on.
///     pub struct Root {
///         required {
///             /// URI of the root.
///             uri: String = "uri",
///         }
///         optional {
///             /// Display name.
///             name: Option<String> = "name",
///         }
///     }
///
///     /// Creates a root without a name.
///     new(uri: impl Into<String>);
/// }
/// ```
///
/// The struct gets the usual derives and a field `extra` for unknown members.
/// `tag "type" = "text";` comes first if there is one. [`members`] tells what
/// the groups mean.
macro_rules! wire {
    ($(#[$about:meta])* pub struct $type:ident {
        $(tag $tag:literal = $value:literal;)?
        $(required { $($(#[$r_about:meta])* $required:ident: $r_type:ty = $r_name:literal,)+ })?
        $(optional { $($(#[$o_about:meta])* $optional:ident: $o_type:ty = $o_name:literal,)+ })?
    } $($constructor:tt)*) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $type {
            $($($(#[$r_about])* pub $required: $r_type,)+)?
            $($($(#[$o_about])* pub $optional: $o_type,)+)?
            /// Members that this revision does not define.
            pub extra: $crate::json::JsonObject,
        }

        members!($type {
            $(tag: $tag = $value;)?
            $(required: $($required = $r_name),+;)?
            $(optional: $($optional = $o_name),+;)?
            rest: extra
        });

        constructor!($type { $($($required)+)? } { $($($optional)+)? } $($constructor)*);
    };
}

/// Implements the constructor of a wire struct, usually `new`, which sets the
/// required fields and no others.
macro_rules! constructor {
    ($type:ident { $($required:ident)* } { $($optional:ident)* }) => {};
    ($type:ident { $($required:ident)* } { $($optional:ident)* }
        $(#[$about:meta])* $name:ident($($field:ident: $argument:ty),+ $(,)?);
    ) => {
        impl $type {
            $(#[$about])*
            pub fn $name($($field: $argument),+) -> Self {
                Self {
                    $($required: $required.into(),)*
                    $($optional: None,)*
                    extra: $crate::json::JsonObject::new(),
                }
            }
        }
    };
}

/// Maps the fields of a wire struct to the members of its JSON object.
///
/// ```text
/// members!(Root {
///     required: uri = "uri";
///     optional: name = "name", meta = "_meta";
///     rest: extra
/// });
/// ```
///
/// - `tag: "type" = "text";` comes first if there is one: a member with a fixed
///   value and no field.
/// - `first: mode = "mode";` is an optional member that is written before all
///   others. It distinguishes the types of a union, and a reader that meets it
///   first decodes in one pass.
/// - A `required` member must be present. It may be null only if its field is
///   an `Option`, which stands for "this or null" in the schemas.
/// - An `optional` member has an `Option` field and is written only if it is
///   `Some`. It may be missing, but not null.
/// - `rest` is the [`JsonObject`] that keeps unknown members. `base` instead
///   names a field that is a wire struct itself, with its members in the same
///   object.
///
/// A derive would need `#[serde(flatten)]`, which buffers the members and costs
/// a fifth of the time of decoding a `tools/call`.
macro_rules! members {
    ($type:ident { $($table:tt)* }) => {
        impl $crate::json::Members for $type {
            const EXPECTED: &'static str = concat!("an object (", stringify!($type), ")");
            read_members!($type { $($table)* });
            write_members!({ $($table)* });
        }

        sample_members!($type { $($table)* });

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::json::write_object(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::json::read_object(deserializer)
            }
        }
    };
}

macro_rules! read_members {
    ($type:ident {
        $(tag: $tag:literal = $value:literal;)?
        $(first: $first:ident = $first_name:literal;)?
        $(required: $($required:ident = $required_name:literal),+;)?
        $(optional: $($optional:ident = $optional_name:literal),+;)?
        $(rest: $rest:ident)? $(base: $base:ident)?
    }) => {
        fn read<'de, A: serde::de::MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
            $(let mut tag = $crate::json::Slot::new($tag);)?
            $(let mut $first = $crate::json::Slot::new($first_name);)?
            $($(let mut $required = $crate::json::Slot::new($required_name);)+)?
            $($(let mut $optional = $crate::json::Slot::new($optional_name);)+)?
            let mut rest = $crate::json::JsonObject::new();
            while let Some(key) = map.next_key::<$crate::json::Key<'de>>()? {
                match &*key {
                    $($tag => tag.fill(&mut map)?,)?
                    $($first_name => $first.fill(&mut map)?,)?
                    $($($required_name => $required.fill(&mut map)?,)+)?
                    $($($optional_name => $optional.fill(&mut map)?,)+)?
                    _ => rest.take(key, &mut map)?,
                }
            }
            $(tag.require_value::<A::Error>($value)?;)?
            Ok($type {
                $($first: $first.into_option(),)?
                $($($required: $required.require()?,)+)?
                $($($optional: $optional.into_option(),)+)?
                $($rest: rest,)? $($base: rest.decode().map_err(serde::de::Error::custom)?,)?
            })
        }
    };
}

macro_rules! write_members {
    ({
        $(tag: $tag:literal = $value:literal;)?
        $(first: $first:ident = $first_name:literal;)?
        $(required: $($required:ident = $required_name:literal),+;)?
        $(optional: $($optional:ident = $optional_name:literal),+;)?
        $(rest: $rest:ident)? $(base: $base:ident)?
    }) => {
        fn write<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
            $(map.serialize_entry($tag, $value)?;)?
            $(if let Some(value) = &self.$first {
                map.serialize_entry($first_name, value)?;
            })?
            $($(map.serialize_entry($required_name, &self.$required)?;)+)?
            $($(if let Some(value) = &self.$optional {
                map.serialize_entry($optional_name, value)?;
            })+)?
            $(self.$rest.write(map))? $(self.$base.write(map))?
        }
    };
}

/// Generates values for the property tests, field by field.
macro_rules! sample_members {
    ($type:ident {
        $(tag: $tag:literal = $value:literal;)?
        $(first: $first:ident = $first_name:literal;)?
        $(required: $($required:ident = $required_name:literal),+;)?
        $(optional: $($optional:ident = $optional_name:literal),+;)?
        $(rest: $rest:ident)? $(base: $base:ident)?
    }) => {
        #[cfg(test)]
        impl $crate::laws::Sample for $type {
            fn sample(source: &mut $crate::laws::Source<'_>) -> Self {
                Self {
                    $($first: source.draw(),)?
                    $($($required: source.draw(),)+)?
                    $($($optional: source.draw(),)+)?
                    $($rest: source.draw(),)? $($base: source.draw(),)?
                }
            }
        }
    };
}

/// Struct that is an object on the wire.
pub(crate) trait Members: Sized {
    /// Expected type, for error texts.
    const EXPECTED: &'static str;

    fn read<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error>;

    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

pub(crate) fn read_object<'de, T: Members, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let mut object = None;
    deserializer.deserialize_map(MembersVisitor(&mut object))?;
    object.ok_or_else(|| de::Error::custom(T::EXPECTED))
}

pub(crate) fn write_object<T: Members, S: Serializer>(
    object: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    object.write(&mut map)?;
    map.end()
}

/// Target of the decoded object. Returned by value, each level of serde would
/// copy it.
struct MembersVisitor<'s, T>(&'s mut Option<T>);

impl<'de, T: Members> Visitor<'de> for MembersVisitor<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        *self.0 = Some(T::read(map)?);
        Ok(())
    }
}

/// Value of a member while the others are read. Refuses a second value.
pub(crate) struct Slot<T> {
    name: &'static str,
    value: Option<T>,
}

impl<T> Slot<T> {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, value: None }
    }

    pub(crate) fn fill<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error>
    where
        T: Deserialize<'de>,
    {
        if self.value.is_some() {
            return Err(de::Error::duplicate_field(self.name));
        }
        let value = map.next_value();
        self.value = Some(value.map_err(|error| misplaced(self.name, &error))?);
        Ok(())
    }

    pub(crate) fn require<E: de::Error>(self) -> Result<T, E> {
        self.value.ok_or_else(|| E::missing_field(self.name))
    }

    pub(crate) fn into_option(self) -> Option<T> {
        self.value
    }
}

/// Adds the name of the member to an error.
#[cold]
fn misplaced<E: de::Error>(name: &str, error: &E) -> E {
    let text = error.to_string();
    // serde_json adds the position again.
    let text = text
        .rsplit_once(" at line ")
        .map_or(&*text, |(text, _)| text);
    match text.strip_prefix('`') {
        // The name of the innermost member is enough.
        Some(rest) if rest.contains("`: ") => E::custom(text),
        _ => E::custom(format_args!("`{name}`: {text}")),
    }
}

impl Slot<Key<'_>> {
    /// Checks a member with a fixed value.
    pub(crate) fn require_value<E: de::Error>(self, value: &'static str) -> Result<(), E> {
        let found = self.require::<E>()?;
        if &*found == value {
            Ok(())
        } else {
            Err(E::invalid_value(de::Unexpected::Str(&found), &value))
        }
    }
}
