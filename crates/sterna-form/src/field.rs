//! One field: the part of JSON Schema that a form may use, and nothing more.

use serde_json::{Map, Value, json};
use sterna_protocol::elicitation::PrimitiveSchema;

type Object = Map<String, Value>;

/// A field, and whether leaving it empty is a value.
pub(crate) struct Field {
    pub(crate) schema: PrimitiveSchema,
    pub(crate) nullable: bool,
}

/// Keywords that describe and do not restrict; they are not sent.
const REMARKS: &[&str] = &[
    "$comment",
    "deprecated",
    "examples",
    "readOnly",
    "uniqueItems",
    "writeOnly",
];

const TEXT: &[&str] = &["minLength", "maxLength", "default"];
const NUMBER: &[&str] = &["minimum", "maximum", "default"];
const CHOICE: &[&str] = &["default"];
const CHOICES: &[&str] = &["minItems", "maxItems", "default"];

/// Reads a field, or says in words why it cannot be one.
pub(crate) fn read(schema: &Object) -> Result<Field, String> {
    let (schema, nullable) = without_null(schema);
    let form = normalise(&schema)?;
    let schema = serde_json::from_value(Value::Object(form))
        .map_err(|error| format!("is not a form field: {error}"))?;
    Ok(Field { schema, nullable })
}

/// Takes `null` out of what is allowed: in a form an `Option` is a field that
/// may stay empty.
fn without_null(schema: &Object) -> (Object, bool) {
    let mut schema = schema.clone();
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        let before = types.len();
        types.retain(|kind| kind != "null");
        let nullable = types.len() < before;
        let only = match types.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        };
        if let Some(only) = only {
            schema.insert("type".to_owned(), only);
        }
        if let Some(Value::Array(values)) = schema.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
        return (schema, nullable);
    }
    let Some(Value::Array(alternatives)) = schema.get("anyOf") else {
        return (schema, false);
    };
    let is_null = |alternative: &Value| alternative["type"] == "null";
    match alternatives.as_slice() {
        [Value::Object(some), null] if is_null(null) => {
            let mut merged = some.clone();
            schema.remove("anyOf");
            // What was said of the field itself is about this question; what
            // its type says is general.
            merged.extend(schema);
            (merged, true)
        }
        _ => (schema, false),
    }
}

fn normalise(schema: &Object) -> Result<Object, String> {
    if let Some(options) = schema.get("oneOf").or_else(|| schema.get("anyOf")) {
        let options = titled(options)?;
        let mut form = keep(schema, &["oneOf", "anyOf", "type"], CHOICE)?;
        form.insert("type".to_owned(), json!("string"));
        form.insert("oneOf".to_owned(), options);
        return Ok(form);
    }
    if let Some(values) = values(schema) {
        let mut form = keep(schema, &["enum", "const", "type"], CHOICE)?;
        form.insert("type".to_owned(), json!("string"));
        form.insert("enum".to_owned(), values?);
        return Ok(form);
    }
    let kind = schema.get("type").and_then(Value::as_str);
    let mut form = match kind {
        Some("boolean") => keep(schema, &["type"], CHOICE)?,
        Some("integer" | "number") => keep(schema, &["type", "format"], NUMBER)?,
        Some("string") => text(schema)?,
        Some("array") => choices(schema)?,
        Some("object") => {
            return Err(
                "is an object; a form is flat, so lift its members into the form".to_owned(),
            );
        }
        _ => return Err("has no single primitive type".to_owned()),
    };
    form.insert("type".to_owned(), json!(kind));
    Ok(form)
}

fn text(schema: &Object) -> Result<Object, String> {
    let mut form = keep(schema, &["type", "format"], TEXT)?;
    // Other formats (`uuid`, `duration`) are checked when the answer is read.
    if let Some(format) = schema.get("format")
        && ["date", "date-time", "email", "uri"].contains(&format.as_str().unwrap_or(""))
    {
        form.insert("format".to_owned(), format.clone());
    }
    Ok(form)
}

fn choices(schema: &Object) -> Result<Object, String> {
    let not_a_choice = || "is a list; only a list of enum values can be a form field".to_owned();
    let items = schema.get("items").and_then(Value::as_object);
    let items = items.ok_or_else(not_a_choice)?;
    let mut form = keep(schema, &["type", "items"], CHOICES)?;
    let items = if let Some(options) = items.get("oneOf").or_else(|| items.get("anyOf")) {
        json!({ "anyOf": titled(options)? })
    } else {
        let values = values(items).ok_or_else(not_a_choice)??;
        json!({ "type": "string", "enum": values })
    };
    form.insert("items".to_owned(), items);
    Ok(form)
}

/// The values of an `enum` or `const`, which must be strings.
fn values(schema: &Object) -> Option<Result<Value, String>> {
    let values = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => values.clone(),
        (_, Some(value)) => vec![value.clone()],
        _ => return None,
    };
    Some(if values.iter().all(Value::is_string) {
        Ok(Value::Array(values))
    } else {
        Err("is an enum of values that are not strings".to_owned())
    })
}

/// The options of an enum whose variants are documented or titled.
fn titled(options: &Value) -> Result<Value, String> {
    let mut titled = Vec::new();
    for option in options.as_array().into_iter().flatten() {
        let said = |word| option.get(word).and_then(Value::as_str);
        if let Some(value) = said("const") {
            let title = said("title")
                .or_else(|| said("description"))
                .unwrap_or(value);
            titled.push(json!({ "const": value, "title": title }));
            continue;
        }
        // Variants without a comment are kept together in one `enum`.
        let plain = option.as_object().and_then(values).transpose()?;
        let Some(Value::Array(plain)) = plain else {
            return Err("is an enum whose variants carry data".to_owned());
        };
        titled.extend(
            plain
                .iter()
                .map(|value| json!({ "const": value, "title": value })),
        );
    }
    Ok(Value::Array(titled))
}

/// Copies title, description and `kept`; refuses a keyword that restricts the
/// value in a way the form could not show.
fn keep(schema: &Object, handled: &[&str], kept: &[&str]) -> Result<Object, String> {
    let mut form = Object::new();
    for (word, value) in schema {
        let word = word.as_str();
        if ["title", "description"].contains(&word) || kept.contains(&word) {
            if !value.is_null() {
                form.insert(word.to_owned(), value.clone());
            }
        } else if !handled.contains(&word) && !REMARKS.contains(&word) && !word.starts_with("x-") {
            return Err(format!(
                "uses `{word}`, which no form can show; check it in the handler and ask again"
            ));
        }
    }
    Ok(form)
}
