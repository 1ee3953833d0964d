//! Validation against schemas with rules that derived schemas do not have. It
//! is a feature, `json-schema`: its library is a third of the time that a small
//! server takes to build.

#[cfg(feature = "json-schema")]
mod engine;

use sterna_form::SchemaError;

#[cfg(not(feature = "json-schema"))]
pub(super) use self::Unsupported as GeneralCheck;
#[cfg(feature = "json-schema")]
pub(super) use engine::GeneralCheck;

/// Errors of a value that does not fit.
#[cfg_attr(
    not(feature = "json-schema"),
    expect(dead_code, reason = "made by the engine")
)]
pub(super) enum Errors {
    Found(Vec<SchemaError>),
    /// The value has so many places that its errors are not looked for.
    TooMany,
}

/// A schema that would need the engine, of which there is none.
#[cfg(not(feature = "json-schema"))]
pub(super) enum Unsupported {}

#[cfg(not(feature = "json-schema"))]
impl Unsupported {
    /// Refuses a schema for its use of `keyword`.
    pub(super) fn new(_: &serde_json::Value, keyword: &str) -> Result<Self, String> {
        Err(format!(
            "its `{keyword}` is a rule that only the feature `json-schema` checks; \
             turn it on with `cargo add sterna --features json-schema`"
        ))
    }

    pub(super) fn errors(&self, _: &serde_json::Value, _: usize) -> Errors {
        match *self {}
    }
}

#[cfg(all(test, feature = "json-schema"))]
mod tests;
