//! From the JSON Schema of a type to the fields of a form.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use sterna_protocol::elicitation::{FormSchema, PrimitiveSchema};

use crate::field;

/// Fields of a form.
#[derive(Clone, Debug)]
pub(crate) enum Fields {
    /// Those of a struct.
    Many(FormSchema),
    /// That of a single value, named after the question.
    One {
        field: PrimitiveSchema,
        required: bool,
    },
}

impl Fields {
    /// The schema to send for a question under `key`.
    pub(crate) fn schema(&self, key: &str) -> FormSchema {
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

/// A part of a schema that a form cannot express, with its field.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) field: Option<String>,
    pub(crate) reason: String,
}

impl Problem {
    pub(crate) fn here(reason: impl Into<String>) -> Self {
        Self {
            field: None,
            reason: reason.into(),
        }
    }

    fn at(field: &str, reason: String) -> Self {
        Self {
            field: Some(field.to_owned()),
            reason,
        }
    }
}

/// The schema of `T` with everything it refers to written in place, because a
/// form has no `$ref`.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().into()
}

pub(crate) fn fields_of(schema: &Value) -> Result<Fields, Problem> {
    let Value::Object(root) = schema else {
        return Err(Problem::here(
            "accepts any value; give it a type that says what it accepts",
        ));
    };
    if root.get("type").and_then(Value::as_str) != Some("object") {
        let mut root = root.clone();
        // A root is titled after its Rust type, which means nothing to a user.
        root.remove("title");
        let field = field::read(&root).map_err(Problem::here)?;
        return Ok(Fields::One {
            field: field.schema,
            required: !field.nullable,
        });
    }
    many(root).map(Fields::Many)
}

fn many(root: &Map<String, Value>) -> Result<FormSchema, Problem> {
    if let Some(word) = ["oneOf", "anyOf", "allOf", "patternProperties"]
        .into_iter()
        .find(|word| root.contains_key(*word))
    {
        return Err(Problem::here(format!(
            "has alternatives or dependent fields (`{word}`); a form has a fixed list of fields"
        )));
    }
    let open = root
        .get("additionalProperties")
        .is_some_and(|more| *more != Value::Bool(false));
    if open {
        return Err(Problem::here(
            "is a map; a form needs fields whose names are known",
        ));
    }
    let required: Vec<&str> = root
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = root.get("properties").and_then(Value::as_object);
    let mut form = FormSchema::new();
    for (name, schema) in properties.into_iter().flatten() {
        let Value::Object(schema) = schema else {
            return Err(Problem::at(name, "accepts any value".to_owned()));
        };
        let field = field::read(schema).map_err(|reason| Problem::at(name, reason))?;
        form = if required.contains(&name.as_str()) && !field.nullable {
            form.with_required(name, field.schema)
        } else {
            form.with_optional(name, field.schema)
        };
    }
    Ok(form)
}
