//! The form of a type.

use std::any::{TypeId, type_name};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use ring::digest::{SHA256, digest};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use sterna_protocol::elicitation::{AnswerError, ElicitContent, FormSchema};
use thiserror::Error;

use crate::rules::Formats;
use crate::shape::{self, Fields};
use crate::text_check::{Cursor, TextCheck};

/// The form of a Rust type: a struct has one field per member, anything else
/// that fits into one field is a form of one field.
#[derive(Debug)]
pub struct Form {
    fields: Fields,
    digest: [u8; 16],
    /// The schema as JSON, if it is the same for all questions.
    text: Option<String>,
    /// Of all fields, or of the only one.
    answers: TextCheck,
}

impl Form {
    /// Derives the form of `T`.
    ///
    /// # Errors
    ///
    /// `T` has a shape that no form can show; the error names the field.
    #[expect(clippy::missing_panics_doc, reason = "a schema can always be written")]
    pub fn of<T: JsonSchema>() -> Result<Self, NotAForm> {
        let fields = shape::fields_of(&shape::schema_of::<T>()).map_err(|problem| NotAForm {
            type_name: type_name::<T>(),
            field: problem.field,
            reason: problem.reason,
        })?;
        // Our types write one value in one way, so their text will do.
        let sent = fields.schema("");
        let text = serde_json::to_string(&sent).expect("a schema has string keys only");
        let mut short = [0; 16];
        short.copy_from_slice(&digest(&SHA256, text.as_bytes()).as_ref()[..16]);
        Ok(Self {
            answers: check_of(&sent, &fields),
            text: matches!(fields, Fields::Many(_)).then_some(text),
            fields,
            digest: short,
        })
    }

    /// The form of `T`, derived the first time it is asked for.
    ///
    /// # Errors
    ///
    /// As [`Form::of`], every time.
    pub fn known<T: JsonSchema + 'static>() -> Result<Arc<Self>, NotAForm> {
        let id = TypeId::of::<T>();
        let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(form) = known.get(&id) {
            return Ok(Arc::clone(form));
        }
        drop(known);
        let form = Arc::new(Self::of::<T>()?);
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(id, Arc::clone(&form));
        Ok(form)
    }

    /// The schema to send for a question under `key`.
    #[must_use]
    pub fn schema(&self, key: &str) -> FormSchema {
        self.fields.schema(key)
    }

    /// The schema as JSON; `None` if it depends on the key of the question.
    #[must_use]
    pub fn schema_text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Digest of the schema, which tells the form from all others.
    #[must_use]
    pub fn digest(&self) -> &[u8; 16] {
        &self.digest
    }

    /// Returns `true` if the question's key is the name of its only field.
    #[must_use]
    pub fn needs_key(&self) -> bool {
        matches!(self.fields, Fields::One { .. })
    }

    /// Checks an accepted answer against the schema that was sent for `key`,
    /// and fills in what it leaves to defaults.
    ///
    /// # Errors
    ///
    /// Says which field broke which rule.
    pub fn check(&self, key: &str, content: ElicitContent) -> Result<ElicitContent, AnswerError> {
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
    pub fn read<T: DeserializeOwned>(
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

impl Form {
    /// Reads the text of an answer to the question under `key`, if it accepts the
    /// form and is valid beyond doubt.
    ///
    /// All other answers are for [`check`](Self::check) and
    /// [`read`](Self::read), which decide: those that leave a field to its
    /// default, decline, have members besides, or are not valid.
    #[must_use]
    pub fn read_accepted<T: DeserializeOwned>(&self, key: &str, answer: &str) -> Option<T> {
        let mut cursor = Cursor::new(answer);
        let mut is_accepted = false;
        let mut content = None;
        if !cursor.take(b'{') {
            return None;
        }
        loop {
            match cursor.name()? {
                "action" if !is_accepted => {
                    cursor.skip_space();
                    is_accepted = cursor.take_word(r#""accept""#);
                    if !is_accepted {
                        return None;
                    }
                }
                "content" if content.is_none() => content = Some(self.content(key, &mut cursor)?),
                _ => return None,
            }
            if cursor.take(b'}') {
                break;
            }
            if !cursor.take(b',') {
                return None;
            }
        }
        let content = content.filter(|_| is_accepted && cursor.is_at_end())?;
        serde_json::from_str(content).ok()
    }

    /// Takes the content of an answer and returns the text that `T` is read from.
    fn content<'a>(&self, key: &str, cursor: &mut Cursor<'a>) -> Option<&'a str> {
        let is_single = self.needs_key();
        if is_single && !(cursor.take(b'{') && cursor.name()? == key) {
            return None;
        }
        cursor.skip_space();
        let start = *cursor;
        if !self.answers.takes(cursor) {
            return None;
        }
        let value = cursor.since(&start);
        (!is_single || cursor.take(b'}')).then_some(value)
    }
}

/// The check of the text of answers to a form whose schema is `sent`.
fn check_of(sent: &FormSchema, fields: &Fields) -> TextCheck {
    let mut schema = serde_json::to_value(sent).expect("a schema has string keys only");
    if let Fields::One { .. } = fields {
        return TextCheck::with_formats(&schema["properties"][""], Formats::Checked);
    }
    // A field that has a default is filled in if it is missing, which is not done on text.
    let all = schema["properties"].as_object().into_iter().flatten();
    let given = all.filter(|(_, field)| field.get("default").is_some());
    let given: Vec<_> = given.map(|(name, _)| name.clone().into()).collect();
    let mut required = schema["required"].as_array().cloned().unwrap_or_default();
    required.extend(given);
    schema["required"] = required.into();
    TextCheck::with_formats(&schema, Formats::Checked)
}

/// A Rust type that cannot be shown as a form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{type_name}` cannot be a form: {}{reason}", InField(field))]
#[non_exhaustive]
pub struct NotAForm {
    /// The type that was asked for.
    pub type_name: &'static str,
    /// The field at fault; `None` if it is the type itself.
    pub field: Option<String>,
    /// The mistake and its remedy, in words for the person who answered.
    pub reason: String,
}

struct InField<'a>(&'a Option<String>);

impl std::fmt::Display for InField<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(field) => write!(f, "field `{field}` "),
            None => f.write_str("it "),
        }
    }
}

/// Forms that were derived before: a type has one for as long as the program
/// runs, and deriving it costs more than all else that a question does. Grows
/// with the types of the program, which no peer can add to.
static KNOWN: LazyLock<RwLock<BTreeMap<TypeId, Arc<Form>>>> = LazyLock::new(RwLock::default);

#[cfg(test)]
mod tests;
