//! A Rust type as a form that a person fills in.

mod field;
mod known;
mod shape;
#[cfg(test)]
mod tests;

use std::any::type_name;

use ring::digest::{SHA256, digest};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use sterna_flow::{Digest, Fingerprint};
use sterna_protocol::elicitation::{AnswerError, ElicitContent, FormSchema, PrimitiveSchema};
use thiserror::Error;

/// The form of a Rust type: a struct has one field per member, anything else
/// that fits into one field is a form of one field.
#[derive(Debug)]
pub(crate) struct Form {
    fields: Fields,
    mark: [u8; 16],
}

#[derive(Clone, Debug)]
enum Fields {
    /// Those of a struct.
    Many(FormSchema),
    /// That of a single value, named after the question.
    One {
        field: PrimitiveSchema,
        required: bool,
    },
}

impl Form {
    /// Derives the form of `T`.
    ///
    /// # Errors
    ///
    /// `T` has a shape that no form can show; the error names the field.
    pub(crate) fn of<T: JsonSchema>() -> Result<Self, NotAForm> {
        let fields = shape::fields_of(&shape::schema_of::<T>()).map_err(|problem| NotAForm {
            type_name: type_name::<T>(),
            field: problem.field,
            reason: problem.reason,
        })?;
        // Our types write one value in one way, so their text will do.
        let text = serde_json::to_vec(&fields.schema("")).expect("a schema has string keys only");
        let mut mark = [0; 16];
        mark.copy_from_slice(&digest(&SHA256, &text).as_ref()[..16]);
        Ok(Self { fields, mark })
    }

    /// The schema to send for a question under `key`.
    pub(crate) fn schema(&self, key: &str) -> FormSchema {
        self.fields.schema(key)
    }

    /// What tells its question under `key`, in the words of `message`, from all
    /// others.
    pub(crate) fn fingerprint(&self, digest: &dyn Digest, key: &str, message: &str) -> Fingerprint {
        let parts: [&[u8]; 3] = [&self.mark, message.as_bytes(), key.as_bytes()];
        // Where the form says all, nothing more is hashed.
        let count = if self.needs_key() { 3 } else { 2 };
        Fingerprint::of(digest, &parts[..count])
    }

    /// Whether the question's key is the name of its only field.
    pub(crate) fn needs_key(&self) -> bool {
        matches!(self.fields, Fields::One { .. })
    }

    /// Checks an accepted answer against the schema that was sent for `key`,
    /// and fills in what it leaves to defaults.
    ///
    /// # Errors
    ///
    /// Says which field broke which rule.
    pub(crate) fn check(
        &self,
        key: &str,
        content: ElicitContent,
    ) -> Result<ElicitContent, AnswerError> {
        match &self.fields {
            Fields::Many(fields) => fields.check(content),
            Fields::One { .. } => self.schema(key).check(content),
        }
    }

    /// Reads an accepted answer to the question under `key`.
    ///
    /// # Errors
    ///
    /// The answer fits the schema that was sent but not `T`.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        key: &str,
        content: &ElicitContent,
    ) -> serde_json::Result<T> {
        match &self.fields {
            Fields::Many(_) => content.decode(),
            Fields::One { .. } => {
                let value = match content.get(key) {
                    Some(value) => serde_json::to_value(value)?,
                    None => serde_json::Value::Null,
                };
                serde_json::from_value(value)
            }
        }
    }
}

impl Fields {
    fn schema(&self, key: &str) -> FormSchema {
        match self {
            Self::Many(fields) => fields.clone(),
            Self::One {
                field,
                required: true,
            } => FormSchema::new().with_required(key, field.clone()),
            Self::One { field, .. } => FormSchema::new().with_optional(key, field.clone()),
        }
    }
}

/// A Rust type that cannot be shown as a form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{type_name}` cannot be a form: {}{reason}", Place(field))]
#[non_exhaustive]
pub struct NotAForm {
    /// The type that was asked for.
    pub type_name: &'static str,
    /// The field at fault; `None` if it is the type itself.
    pub field: Option<String>,
    /// What is wrong, and what to do instead.
    pub reason: String,
}

struct Place<'a>(&'a Option<String>);

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(field) => write!(f, "field `{field}` "),
            None => f.write_str("it "),
        }
    }
}
