//! The fields that a schema describes.

use serde_json::{Map, Value};

/// One field of a form.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// Name of the HTML field: the names on the way to it, joined by `/`.
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) is_required: bool,
    pub(crate) default: Option<Value>,
    /// Limits in words, such as "1 to 99".
    pub(crate) limits: Vec<String>,
    pub(crate) kind: Kind,
}

/// Kind of a field.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Boolean,
    /// One of several values.
    Choice(Vec<Choice>),
    /// Some of several values.
    Choices(Vec<Choice>),
    /// Any JSON, for schemas that have no form of their own.
    Json,
    /// A list of texts or numbers, one a line.
    Lines(Box<Self>),
    Number {
        is_integer: bool,
    },
    Object(Vec<Field>),
    /// A list of objects. The fields are those of one row, with `#` in the place
    /// of its number.
    Rows(Vec<Field>),
    Text {
        format: Option<String>,
        is_secret: bool,
    },
}

/// A value that can be picked.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) value: Value,
    pub(crate) title: String,
}

impl Choice {
    /// Spelling of the value in an HTML form.
    pub(crate) fn key(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// The fields of an object schema, with names that begin with `prefix`.
pub(crate) fn fields_of(schema: &Value, prefix: &str) -> Vec<Field> {
    let mut left = MOST_FIELDS;
    let reader = Reader { root: schema };
    reader.members(schema, prefix, DEEPEST, &mut left)
}

struct Reader<'a> {
    root: &'a Value,
}

impl Reader<'_> {
    fn members(&self, schema: &Value, prefix: &str, depth: u8, left: &mut usize) -> Vec<Field> {
        let schema = self.resolve(schema);
        let required: Vec<&str> = strings(&schema, "required").collect();
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut fields = Vec::new();
        for (name, schema) in properties.into_iter().flatten() {
            if *left == 0 {
                break;
            }
            *left -= 1;
            let is_required = required.contains(&name.as_str());
            fields.push(self.field(schema, prefix, name, is_required, depth, left));
        }
        fields
    }

    fn field(
        &self,
        schema: &Value,
        prefix: &str,
        name: &str,
        is_required: bool,
        depth: u8,
        left: &mut usize,
    ) -> Field {
        let path = format!("{prefix}/{name}");
        let schema = self.resolve(schema);
        let text = |member: &str| schema.get(member)?.as_str().map(str::to_owned);
        Field {
            kind: self.kind(&schema, &path, name, depth, left),
            limits: limits(&schema),
            title: text("title").unwrap_or_else(|| name.to_owned()),
            description: text("description"),
            default: schema
                .get("default")
                .filter(|value| !value.is_null())
                .cloned(),
            name: name.to_owned(),
            path,
            is_required,
        }
    }

    fn kind(&self, schema: &Value, path: &str, name: &str, depth: u8, left: &mut usize) -> Kind {
        if let Some(choices) = choices(schema) {
            return Kind::Choice(choices);
        }
        match type_of(schema) {
            Some("boolean") => Kind::Boolean,
            Some("integer") => Kind::Number { is_integer: true },
            Some("number") => Kind::Number { is_integer: false },
            Some("string") => Kind::Text {
                format: schema
                    .get("format")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
                is_secret: crate::mask::is_secret(name),
            },
            Some("object") if depth > 0 => {
                match self.members(schema, path, depth - 1, left) {
                    // An object without named members takes any.
                    fields if fields.is_empty() => Kind::Json,
                    fields => Kind::Object(fields),
                }
            }
            Some("array") => self.list(schema, path, name, depth, left),
            _ => Kind::Json,
        }
    }

    fn list(&self, schema: &Value, path: &str, name: &str, depth: u8, left: &mut usize) -> Kind {
        let Some(items) = schema.get("items") else {
            return Kind::Json;
        };
        let items = self.resolve(items);
        let row = format!("{path}/#");
        match self.kind(&items, &row, name, depth.saturating_sub(1), left) {
            Kind::Choice(choices) => Kind::Choices(choices),
            kind @ (Kind::Number { .. } | Kind::Text { .. }) => Kind::Lines(Box::new(kind)),
            // A list inside of a list would need a second number in its names.
            Kind::Object(fields) if !path.contains('#') => Kind::Rows(fields),
            _ => Kind::Json,
        }
    }

    /// Follows references, and takes `null` out of what may be null.
    fn resolve(&self, schema: &Value) -> Value {
        let mut schema = schema.clone();
        for _ in 0..MOST_REFERENCES {
            let pointer = schema.get("$ref").and_then(Value::as_str);
            if let Some(target) = pointer.and_then(|text| text.strip_prefix('#')) {
                let Some(found) = self.root.pointer(target) else {
                    return schema;
                };
                // The words beside a reference are about this use of it.
                schema = merged(found, &schema);
                continue;
            }
            let Some(only) = only_alternative(&schema) else {
                break;
            };
            schema = merged(&only, &schema);
        }
        schema
    }
}

/// `base` with the title, the description and the default of `over`.
fn merged(base: &Value, over: &Value) -> Value {
    let mut merged = base.as_object().cloned().unwrap_or_default();
    for name in ["title", "description", "default"] {
        if let Some(value) = over.get(name) {
            merged.insert(name.to_owned(), value.clone());
        }
    }
    Value::Object(merged)
}

/// The one alternative besides `null`, or the one of `allOf`.
fn only_alternative(schema: &Value) -> Option<Value> {
    let listed = |name: &str| schema.get(name).and_then(Value::as_array);
    if let Some([only]) = listed("allOf").map(Vec::as_slice) {
        return Some(only.clone());
    }
    let alternatives = listed("anyOf").or_else(|| listed("oneOf"))?;
    let is_null = |schema: &&Value| type_of(schema) != Some("null");
    let mut others = alternatives.iter().filter(is_null);
    match (others.next(), others.next()) {
        (Some(only), None) if only.get("const").is_none() => Some(only.clone()),
        _ => None,
    }
}

/// The type that is not `null`.
fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => match names.as_slice() {
            [Value::String(name)] => Some(name),
            [Value::String(name), Value::String(null)] if null == "null" => Some(name),
            [Value::String(null), Value::String(name)] if null == "null" => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// Values that can be picked: `enum`, with its old `enumNames`, or constants in
/// `oneOf` or `anyOf`.
fn choices(schema: &Value) -> Option<Vec<Choice>> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let titles: Vec<&str> = strings(schema, "enumNames").collect();
        let choice = |(at, value): (usize, &Value)| {
            let value = value.clone();
            let mut choice = Choice {
                value,
                title: String::new(),
            };
            choice.title = titles
                .get(at)
                .map_or_else(|| choice.key(), |&title| title.to_owned());
            choice
        };
        let values = values.iter().filter(|value| !value.is_null());
        return Some(values.enumerate().map(choice).collect());
    }
    let listed = schema.get("oneOf").or_else(|| schema.get("anyOf"));
    let constants: Option<Vec<Choice>> = listed?
        .as_array()?
        .iter()
        .map(|option| {
            let value = option.get("const")?.clone();
            let title = option.get("title").or_else(|| option.get("description"));
            let title = title.and_then(Value::as_str).map(str::to_owned);
            let mut choice = Choice {
                value,
                title: String::new(),
            };
            choice.title = title.unwrap_or_else(|| choice.key());
            Some(choice)
        })
        .collect();
    constants.filter(|choices| !choices.is_empty())
}

/// The limits of a schema in words.
fn limits(schema: &Value) -> Vec<String> {
    let number = |name: &str| schema.get(name).filter(|value| value.is_number());
    let mut limits = Vec::new();
    let mut span = |least: Option<&Value>, most: Option<&Value>, unit: &str| match (least, most) {
        (Some(least), Some(most)) => limits.push(format!("{least} to {most}{unit}")),
        (Some(least), None) => limits.push(format!("at least {least}{unit}")),
        (None, Some(most)) => limits.push(format!("at most {most}{unit}")),
        (None, None) => {}
    };
    span(number("minimum"), number("maximum"), "");
    span(number("minLength"), number("maxLength"), " characters");
    span(number("minItems"), number("maxItems"), " items");
    let words = [
        ("exclusiveMinimum", "more than "),
        ("exclusiveMaximum", "less than "),
        ("multipleOf", "multiple of "),
    ];
    for (name, words) in words {
        limits.extend(number(name).map(|value| format!("{words}{value}")));
    }
    for name in ["format", "pattern"] {
        let text = schema.get(name).and_then(Value::as_str);
        limits.extend(text.map(|text| format!("{name} {text}")));
    }
    limits
}

fn strings<'a>(schema: &'a Value, name: &str) -> impl Iterator<Item = &'a str> {
    let listed = schema.get(name).and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str)
}

/// A schema with one text member for each of `names`.
pub(crate) fn of_texts<'a>(names: impl Iterator<Item = (&'a str, Option<&'a str>, bool)>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, description, is_required) in names {
        let mut member = Map::new();
        member.insert("type".to_owned(), "string".into());
        if let Some(description) = description {
            member.insert("description".to_owned(), description.into());
        }
        properties.insert(name.to_owned(), Value::Object(member));
        if is_required {
            required.push(Value::from(name));
        }
    }
    serde_json::json!({"type": "object", "properties": properties, "required": required})
}

/// Fields of a schema that a server can make a page show.
const MOST_FIELDS: usize = 400;

/// Levels of nested objects; deeper ones are JSON.
const DEEPEST: u8 = 5;

/// References in a row: a schema may refer to itself.
const MOST_REFERENCES: u8 = 8;
