//! Questions as the flow knows them, and as a client sees them.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sterna_flow::{Digest, Fingerprint, Pin, Rejected};
use sterna_form::{Form, NotAForm};

use super::AskError;

/// A question whose good answer becomes a `T`.
pub(crate) struct Question<T> {
    message: String,
    schema: Schema,
    /// Data that the user must see to answer.
    pub(super) data: Option<Arc<RawValue>>,
    read: ReadAnswer<T>,
}

/// Schema of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Schema {
    /// A yes or a no.
    Confirm,
    /// A form; the key is the name of its only field, or empty.
    Form(Arc<Form>, String),
    /// Any JSON Schema.
    Json(Value),
}

/// Reads an answer that is not `null`.
pub(crate) type ReadAnswer<T> = fn(&Schema, Value) -> Result<T, Rejected>;

impl Schema {
    /// Returns the schema of a form for `T` and its reader.
    pub(crate) fn form<T>(key: &str) -> Result<(Self, ReadAnswer<T>), NotAForm>
    where
        T: JsonSchema + DeserializeOwned + 'static,
    {
        let form = Form::known::<T>()?;
        let key = if form.needs_key() { key } else { "" };
        Ok((Self::Form(form, key.to_owned()), read_form))
    }

    /// Returns the JSON Schema of `T`.
    pub(crate) fn json<T: JsonSchema>() -> Self {
        Self::Json(schemars::schema_for!(T).into())
    }

    /// Checks an answer that is not `null`, as far as that needs no Rust type.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the answer.
    pub(crate) fn check(&self, answer: &Value) -> Result<(), String> {
        match self {
            Self::Confirm if answer.is_boolean() => Ok(()),
            Self::Confirm => Err(NOT_A_BOOLEAN.to_owned()),
            Self::Form(form, key) => {
                let content = content(key, answer.clone()).map_err(|error| error.to_string())?;
                let checked = form.check(key, content).map(drop);
                checked.map_err(|error| error.to_string())
            }
            Self::Json(schema) => check_json(schema, answer),
        }
    }

    /// Returns the schema as a client sees it.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Confirm => Value::Object(Map::from_iter([("type".to_owned(), "boolean".into())])),
            Self::Form(form, key) => {
                let schema = serde_json::to_value(form.schema(key));
                let mut schema = schema.expect("a schema has string keys only");
                // A form of one field is that field: the key says its name.
                match schema
                    .pointer_mut("/properties")
                    .and_then(|all| all.get_mut(key))
                {
                    Some(field) if !key.is_empty() => field.take(),
                    _ => schema,
                }
            }
            Self::Json(schema) => schema.clone(),
        }
    }
}

fn read_form<T: DeserializeOwned>(schema: &Schema, answer: Value) -> Result<T, Rejected> {
    let Schema::Form(form, key) = schema else {
        return Err(Rejected::new("it is not of the kind that was asked for"));
    };
    let content = content(key, answer).map_err(Rejected::new)?;
    let content = form.check(key, content).map_err(Rejected::new)?;
    form.read(key, &content).map_err(Rejected::new)
}

/// Returns an answer as the content of a form, whose only field is `key` if that
/// is not empty.
fn content<C: DeserializeOwned>(key: &str, answer: Value) -> serde_json::Result<C> {
    serde_json::from_value(match key.is_empty() {
        true => answer,
        false => Value::Object(Map::from_iter([(key.to_owned(), answer)])),
    })
}

/// Checks `answer` against a JSON Schema.
///
/// # Errors
///
/// Says what is wrong with the answer.
pub(crate) fn check_json(schema: &Value, answer: &Value) -> Result<(), String> {
    // A schema that is none rejects no answer: the handler reads it.
    let Ok(validator) = jsonschema::validator_for(schema) else {
        return Ok(());
    };
    validator.validate(answer).map_err(|error| {
        let at = error.instance_path().to_string();
        format!("{error}{}", At(&at))
    })
}

/// Reads the answer to a question with any schema.
pub(super) fn read_json<T: DeserializeOwned>(
    schema: &Schema,
    answer: Value,
) -> Result<T, Rejected> {
    if let Schema::Json(schema) = schema {
        check_json(schema, &answer).map_err(Rejected::new)?;
    }
    serde_json::from_value(answer).map_err(Rejected::new)
}

struct At<'a>(&'a str);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => Ok(()),
            path => write!(f, " at `{path}`"),
        }
    }
}

/// Reads a yes or a no.
pub(super) fn read_bool(_: &Schema, answer: Value) -> Result<bool, Rejected> {
    answer.as_bool().ok_or_else(|| Rejected::new(NOT_A_BOOLEAN))
}

const NOT_A_BOOLEAN: &str = "it must be `true` or `false`";

impl<T> Question<T> {
    pub(super) const fn new(message: String, schema: Schema, read: ReadAnswer<T>) -> Self {
        Self {
            message,
            schema,
            data: None,
            read,
        }
    }
}

/// Question as a client sees it.
#[derive(Serialize)]
struct Shown<'a> {
    message: &'a str,
    schema: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a RawValue>,
}

impl<T> sterna_flow::Question for Question<T> {
    type Answer = Result<T, AskError>;

    fn fingerprint(&self, pin: Pin, digest: &dyn Digest) -> Fingerprint {
        let text;
        let schema: &[u8] = match &self.schema {
            Schema::Confirm => b"confirm",
            Schema::Form(form, _) => form.digest(),
            Schema::Json(schema) => {
                text = schema.to_string();
                text.as_bytes()
            }
        };
        let (message, data) = match pin {
            Pin::Schema => ("", ""),
            _ => (
                &*self.message,
                self.data.as_ref().map_or("", |data| data.get()),
            ),
        };
        let lengths = [schema.len() as u64, message.len() as u64].map(u64::to_be_bytes);
        let parts: [&[u8]; 4] = [
            lengths.as_flattened(),
            schema,
            message.as_bytes(),
            data.as_bytes(),
        ];
        Fingerprint::of(digest, &parts)
    }

    fn request(&self, rejected: Option<&str>) -> Bytes {
        let asked_again = rejected.map(|reason| {
            let message = &self.message;
            format!("{message}\n\nThe last answer was not accepted: {reason}.")
        });
        let shown = Shown {
            message: asked_again.as_deref().unwrap_or(&self.message),
            schema: self.schema.to_value(),
            data: self.data.as_deref(),
        };
        let shown = serde_json::to_vec(&shown).expect("a question has string keys only");
        shown.into()
    }

    fn read(&self, answer: &Bytes) -> Result<Self::Answer, Rejected> {
        let answer: Value = serde_json::from_slice(answer).map_err(Rejected::new)?;
        match answer {
            Value::Null => Ok(Err(AskError::Declined)),
            answer => (self.read)(&self.schema, answer).map(Ok),
        }
    }
}
