//! Values made up from a schema: with all members, with the required ones
//! only, and with every alternative of every union once.

use serde_json::{Map, Value, json};

use super::schema::Schema;

pub(super) fn instances(schema: &Schema<'_>, definition: &str) -> Vec<Value> {
    of(schema, schema.definition(definition), Some(definition))
}

/// Inside of another definition a definition is no longer looked into: one
/// value with everything and one with the least must do, of every alternative.
fn within<'a>(schema: &Schema<'a>, rule: &'a Value) -> Vec<Value> {
    let (rule, name) = schema.resolve(rule);
    let mut values = of(schema, rule, name);
    if name.is_some() && rule["anyOf"].is_null() {
        values.truncate(2);
    }
    values
}

fn of<'a>(schema: &Schema<'a>, rule: &'a Value, name: Option<&str>) -> Vec<Value> {
    match name {
        Some("JSONObject") => return vec![json!({ "open": ["anything"] })],
        Some("InputResponses") => return vec![json!({ "key": { "action": "accept" } })],
        _ => {}
    }
    if rule.get("$ref").is_some() {
        return within(schema, rule);
    }
    if let Some(parts) = rule["allOf"].as_array() {
        return parts
            .iter()
            .map(|part| within(schema, part))
            .fold(vec![json!({})], merge);
    }
    if let Some(alternatives) = rule["anyOf"].as_array() {
        return alternatives
            .iter()
            .flat_map(|a| within(schema, a))
            .collect();
    }
    if let Some(value) = rule.get("const") {
        return vec![value.clone()];
    }
    if let Some(names) = rule["enum"].as_array() {
        return names.clone();
    }
    match &rule["type"] {
        Value::Array(types) => types
            .iter()
            .map(|kind| simple(kind.as_str().unwrap()))
            .collect(),
        Value::String(kind) => match kind.as_str() {
            "object" => objects(schema, rule),
            "array" => {
                let items = within(schema, &rule["items"]);
                items.into_iter().map(|item| json!([item])).collect()
            }
            "string" if rule["format"] == "uri" => vec![json!("gauge:///3")],
            kind => vec![simple(kind)],
        },
        _ => vec![json!({ "any": ["thing"] })],
    }
}

fn simple(kind: &str) -> Value {
    match kind {
        "boolean" => json!(true),
        "integer" => json!(7),
        "null" => Value::Null,
        "number" => json!(0.5),
        "string" => json!("text"),
        other => panic!("unknown type {other}"),
    }
}

fn objects<'a>(schema: &Schema<'a>, rule: &'a Value) -> Vec<Value> {
    let properties = rule["properties"].as_object();
    let members: Vec<(&String, Vec<Value>)> = properties
        .into_iter()
        .flatten()
        .map(|(name, rule)| (name, values(schema, properties.unwrap(), name, rule)))
        .collect();
    let is_required = |name: &str| {
        let required = rule["required"].as_array();
        required.is_some_and(|required| required.iter().any(|r| r == name))
    };
    let first = |(name, values): &(&String, Vec<Value>)| ((*name).clone(), values[0].clone());
    let all: Map<String, Value> = members.iter().map(first).collect();
    let required = members.iter().filter(|(name, _)| is_required(name));
    let least: Map<String, Value> = required.map(first).collect();
    let mut objects = vec![Value::Object(all), Value::Object(least.clone())];
    for (name, values) in &members {
        for value in &values[1..] {
            let mut object = least.clone();
            object.insert((*name).clone(), value.clone());
            objects.push(Value::Object(object));
        }
    }
    if rule["additionalProperties"].is_object() && properties.is_none() {
        let values = within(schema, &rule["additionalProperties"]);
        objects.extend(values.into_iter().map(|value| json!({ "key": value })));
    }
    objects
}

fn values<'a>(
    schema: &Schema<'a>,
    all: &Map<String, Value>,
    name: &str,
    rule: &'a Value,
) -> Vec<Value> {
    // The schema admits any string, the specification these two.
    match name {
        "resultType" if rule.get("const").is_some() => within(schema, rule),
        "resultType" if all.contains_key("inputRequests") => vec![json!("input_required")],
        "resultType" => vec![json!("complete")],
        _ => within(schema, rule),
    }
}

/// Every object of either list, with the fullest of the other.
fn merge(left: Vec<Value>, right: Vec<Value>) -> Vec<Value> {
    let join = |a: &Value, b: &Value| {
        let mut members = a.as_object().unwrap().clone();
        members.extend(b.as_object().unwrap().clone());
        Value::Object(members)
    };
    let fullest = |values: &[Value]| {
        values
            .iter()
            .max_by_key(|value| value.to_string().len())
            .cloned()
    };
    let (all_left, all_right) = (fullest(&left).unwrap(), fullest(&right).unwrap());
    let with_right = left.iter().map(|value| join(value, &all_right));
    let with_left = right.iter().map(|value| join(&all_left, value));
    with_right.chain(with_left).collect()
}
