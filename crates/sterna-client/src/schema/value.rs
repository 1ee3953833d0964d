//! JSON values as JSON Schema sees them.

use serde_json::Value;

/// Whether two values are the same; 1 is 1.0.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let both = |(name, a): (&String, &Value)| b.get(name).is_some_and(|b| same(a, b));
            a.len() == b.len() && a.iter().all(both)
        }
        _ => a == b,
    }
}

/// Whether a value is of the type with this name; `None` for a type that does
/// not exist.
pub(super) fn is_of_type(value: &Value, name: &str) -> Option<bool> {
    Some(match name {
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "integer" => {
            let whole = |number: f64| number.fract() == 0.0;
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(whole)
        }
        "null" => value.is_null(),
        "number" => value.is_number(),
        "object" => value.is_object(),
        "string" => value.is_string(),
        _ => return None,
    })
}
