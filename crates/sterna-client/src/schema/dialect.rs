//! The dialects of JSON Schema.

use serde_json::Value;
use sterna_oauth::internal::printable;
use thiserror::Error;

/// A dialect that schemas are applied in, the earlier the less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dialect {
    Draft4,
    Draft6,
    Draft7,
    V2019_09,
    V2020_12,
}

impl Dialect {
    /// The dialect that a schema's `$schema` names, which is 2020-12 where it
    /// names none (BASE-B12).
    pub(crate) fn of(named: Option<&Value>) -> Result<Self, UnknownDialect> {
        match named {
            None => Ok(Self::V2020_12),
            Some(Value::String(name)) => Self::named(name),
            Some(other) => Err(UnknownDialect(printable(&other.to_string()))),
        }
    }

    /// The dialect with this name, however its scheme and end are written.
    pub(crate) fn named(name: &str) -> Result<Self, UnknownDialect> {
        let plain = name.trim_end_matches('#');
        let bare = ["https://", "http://"]
            .iter()
            .find_map(|scheme| plain.strip_prefix(scheme));
        let known = DIALECTS.iter().find(|(known, _)| bare == Some(known));
        match known {
            Some((_, dialect)) => Ok(*dialect),
            // BASE-B15: rather than guess what is meant.
            None => Err(UnknownDialect(printable(name))),
        }
    }

    /// Returns true if `keyword` has a meaning in this dialect.
    pub(super) fn knows(self, keyword: &str) -> bool {
        let since = match keyword {
            "const" | "contains" | "propertyNames" => Self::Draft6,
            "if" | "then" | "else" => Self::Draft7,
            "$recursiveRef"
            | "dependentRequired"
            | "dependentSchemas"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Self::V2019_09,
            "$dynamicRef" | "prefixItems" => Self::V2020_12,
            "additionalItems" => return self < Self::V2020_12,
            _ => Self::Draft4,
        };
        self >= since
    }

    /// The keywords by which a part of a schema becomes one of its own.
    pub(super) fn identity(self) -> [&'static str; 2] {
        match self {
            Self::Draft4 => ["id", "$schema"],
            _ => ["$id", "$schema"],
        }
    }

    /// Returns true if a `$ref` replaces the whole schema it is in.
    pub(super) fn refers_alone(self) -> bool {
        self <= Self::Draft7
    }
}

/// Error for a dialect that is not supported.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the dialect `{0}` of JSON Schema is not supported")]
pub(crate) struct UnknownDialect(String);

/// Supported dialects; `docs/errors/MR0517.md` has the same list.
pub(super) const DIALECTS: [(&str, Dialect); 5] = [
    ("json-schema.org/draft/2020-12/schema", Dialect::V2020_12),
    ("json-schema.org/draft/2019-09/schema", Dialect::V2019_09),
    ("json-schema.org/draft-07/schema", Dialect::Draft7),
    ("json-schema.org/draft-06/schema", Dialect::Draft6),
    ("json-schema.org/draft-04/schema", Dialect::Draft4),
];
