//! A Rust type as a form that a person fills in.

mod field;
mod known;
mod shape;
#[cfg(test)]
mod tests;

use std::any::type_name;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use sterna_protocol::elicitation::{AnswerError, ElicitContent, FormSchema, PrimitiveSchema};
use thiserror::Error;

/// The form of a Rust type: a struct has one field per member, anything else
/// that fits into one field is a form of one field.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// The fields of a struct.
    Fields(FormSchema),
    /// A single value; its field is named after the question.
    Single {
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
        shape::form_of(&shape::schema_of::<T>()).map_err(|problem| NotAForm {
            type_name: type_name::<T>(),
            field: problem.field,
            reason: problem.reason,
        })
    }

    /// The schema to send for a question under `key`.
    pub(crate) fn schema(&self, key: &str) -> FormSchema {
        match self {
            Self::Fields(fields) => fields.clone(),
            Self::Single {
                field,
                required: true,
            } => FormSchema::new().with_required(key, field.clone()),
            Self::Single { field, .. } => FormSchema::new().with_optional(key, field.clone()),
        }
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
        match self {
            Self::Fields(fields) => fields.check(content),
            Self::Single { .. } => self.schema(key).check(content),
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
        match self {
            Self::Fields(_) => content.decode(),
            Self::Single { .. } => {
                let value = match content.get(key) {
                    Some(value) => serde_json::to_value(value)?,
                    None => serde_json::Value::Null,
                };
                serde_json::from_value(value)
            }
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
