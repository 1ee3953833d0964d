//! The value of a form that was sent.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use super::schema::{Choice, Field, Kind};
use crate::urlencoded::Fields;

/// Errors of a form, by the path of the field.
pub(crate) type Errors = BTreeMap<String, String>;

/// Reads an object. Empty fields are left out of it.
///
/// # Errors
///
/// The fields that cannot be read as the type that the schema names. Limits are
/// not checked here: the server does that.
pub(crate) fn read(fields: &[Field], entered: &Fields) -> Result<Map<String, Value>, Errors> {
    let mut errors = Errors::new();
    let object = members(fields, entered, None, &mut errors);
    match errors.is_empty() {
        true => Ok(object),
        false => Err(errors),
    }
}

fn members(
    fields: &[Field],
    entered: &Fields,
    row: Option<usize>,
    errors: &mut Errors,
) -> Map<String, Value> {
    let mut object = Map::new();
    for field in fields {
        let path = in_row(&field.path, row);
        match value(field, &path, entered, row, errors) {
            Ok(Some(value)) => {
                object.insert(field.name.clone(), value);
            }
            Ok(None) => {}
            Err(error) => {
                errors.insert(path, error);
            }
        }
    }
    object
}

/// The path of a field in one row of a list.
pub(crate) fn in_row(path: &str, row: Option<usize>) -> String {
    match row {
        Some(row) => path.replacen('#', &row.to_string(), 1),
        None => path.to_owned(),
    }
}

fn value(
    field: &Field,
    path: &str,
    entered: &Fields,
    row: Option<usize>,
    errors: &mut Errors,
) -> Result<Option<Value>, String> {
    let text = entered.get(path).unwrap_or_default();
    Ok(match &field.kind {
        Kind::Boolean => match text {
            "true" => Some(true.into()),
            "false" => Some(false.into()),
            _ => None,
        },
        Kind::Choice(choices) => match text {
            "" => None,
            key => Some(picked(choices, key)?),
        },
        Kind::Choices(choices) => {
            let picks = entered.all(path).filter(|key| !key.is_empty());
            let picks = picks.map(|key| picked(choices, key));
            let picks = picks.collect::<Result<Vec<_>, _>>()?;
            Some(picks)
                .filter(|picks| field.is_required || !picks.is_empty())
                .map(Value::Array)
        }
        Kind::Json => match text.trim() {
            "" => None,
            text => {
                let read = serde_json::from_str(text);
                Some(read.map_err(|error| format!("is not JSON: {error}"))?)
            }
        },
        Kind::Lines(kind) => {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let items = lines.map(|line| scalar(kind, line));
            let items = items.collect::<Result<Vec<_>, _>>()?;
            Some(items)
                .filter(|items| field.is_required || !items.is_empty())
                .map(Value::Array)
        }
        Kind::Number { .. } | Kind::Text { .. } => match text {
            "" => None,
            text => Some(scalar(&field.kind, text)?),
        },
        Kind::Object(fields) => {
            let object = members(fields, entered, row, errors);
            Some(object)
                .filter(|object| field.is_required || !object.is_empty())
                .map(Value::Object)
        }
        Kind::Rows(fields) => {
            let rows = (0..row_count(path, entered))
                .map(|row| members(fields, entered, Some(row), errors))
                .filter(|object| !object.is_empty());
            let rows: Vec<Value> = rows.map(Value::Object).collect();
            Some(rows)
                .filter(|rows| field.is_required || !rows.is_empty())
                .map(Value::Array)
        }
    })
}

/// Rows of a list, as the form that was sent had them.
pub(crate) fn row_count(path: &str, entered: &Fields) -> usize {
    let count: usize = entered.number(&format!("{path}#")).unwrap_or(0);
    count.min(MOST_ROWS)
}

fn scalar(kind: &Kind, text: &str) -> Result<Value, String> {
    match kind {
        Kind::Number { is_integer } => {
            let number: Number = serde_json::from_str(text.trim())
                .map_err(|_| format!("`{}` is not a number", cut(text)))?;
            let is_whole = number.is_i64() || number.is_u64();
            match *is_integer && !is_whole {
                true => Err(format!("`{}` is not a whole number", cut(text))),
                false => Ok(Value::Number(number)),
            }
        }
        _ => Ok(Value::from(text)),
    }
}

fn picked(choices: &[Choice], key: &str) -> Result<Value, String> {
    let found = choices.iter().find(|choice| choice.key() == key);
    let unknown = || format!("`{}` is not one of the choices", cut(key));
    found.map(|choice| choice.value.clone()).ok_or_else(unknown)
}

fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Rows of a list in a form.
const MOST_ROWS: usize = 50;

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;
    use crate::fields::fields_of;

    #[track_caller]
    fn check(schema: Value, sent: &str, expected: Expect) {
        let fields = fields_of(&schema, "a");
        let read = read(&fields, &Fields::parse(sent));
        let shown = match read {
            Ok(object) => Value::Object(object).to_string(),
            Err(errors) => format!("{errors:?}"),
        };
        expected.assert_eq(&shown);
    }

    fn order() -> Value {
        json!({
            "type": "object",
            "required": ["name", "size"],
            "properties": {
                "name": {"type": "string"},
                "count": {"type": "integer"},
                "weight": {"type": ["number", "null"]},
                "gift": {"type": "boolean"},
                "size": {"enum": ["s", "m", 3]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "days": {"type": "array", "items": {"oneOf": [{"const": "mo", "title": "Monday"}, {"const": "tu", "title": "Tuesday"}]}},
                "to": {"$ref": "#/$defs/address"},
                "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}, "n": {"type": "integer"}}}},
                "any": {}
            },
            "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "next": {"$ref": "#/$defs/address"}}}}
        })
    }

    #[test]
    fn each_kind_of_field_is_read() {
        check(
            order(),
            "a/name=x&a/count=2&a/weight=1.5&a/gift=false&a/size=3&a/tags=one%0D%0A+two%0D%0A&a/days=mo&a/days=tu\
             &a/to/street=High+St&a/to/next/street=Low&a/lines%23=2&a/lines/0/sku=q&a/lines/0/n=1&a/lines/1/sku=&a/any=%5B1%5D",
            expect![[
                r#"{"name":"x","count":2,"weight":1.5,"gift":false,"size":3,"tags":["one","two"],"days":["mo","tu"],"to":{"street":"High St","next":{"street":"Low"}},"lines":[{"sku":"q","n":1}],"any":[1]}"#
            ]],
        );
    }

    #[test]
    fn empty_fields_are_left_out() {
        check(order(), "a/name=&a/count=&a/size=", expect!["{}"]);
    }

    #[test]
    fn a_value_of_another_type_is_named_with_its_field() {
        check(
            order(),
            "a/count=1.5&a/weight=heavy&a/size=xl&a/any=%7B&a/lines%23=1&a/lines/0/n=z",
            expect![[
                r#"{"a/any": "is not JSON: EOF while parsing an object at line 1 column 1", "a/count": "`1.5` is not a whole number", "a/lines/0/n": "`z` is not a number", "a/size": "`xl` is not one of the choices", "a/weight": "`heavy` is not a number"}"#
            ]],
        );
    }

    #[test]
    fn a_schema_that_contains_itself_ends() {
        let schema = json!({"$ref": "#/$defs/node", "$defs": {
            "node": {"type": "object", "properties": {
                "left": {"$ref": "#/$defs/node"}, "right": {"$ref": "#/$defs/node"},
                "loop": {"$ref": "#/$defs/loop"}}},
            "loop": {"$ref": "#/$defs/loop"}}});
        assert_eq!(fields_of(&schema, "a").len(), 3);
    }

    #[test]
    fn a_form_cannot_have_more_rows_than_a_page() {
        assert_eq!(row_count("a", &Fields::parse("a%23=9999999")), MOST_ROWS);
    }
}
