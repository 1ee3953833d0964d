//! JSON values as JSON Schema sees them.

use serde_json::Value;

/// The work that one judgement may take, counted in comparisons.
///
/// Schemas and values come from the server, and either can be as long as a
/// message. So every loop over one of them spends fuel, not only the descent
/// into a schema: a list of 100,000 items against an `enum` of 100,000 members
/// is one schema per item, but ten thousand million comparisons.
#[derive(Debug)]
pub(super) struct Fuel(u32);

impl Fuel {
    pub(super) fn new() -> Self {
        Self(FUEL)
    }

    /// Spends `cost`; false if there is not as much left.
    pub(super) fn spend(&mut self, cost: u32) -> bool {
        match self.0.checked_sub(cost) {
            Some(left) => self.0 = left,
            // Every later step stops too, even a cheaper one.
            None => self.0 = 0,
        }
        self.0 > 0
    }

    /// Spends what it costs to go through `text`.
    pub(super) fn spend_on(&mut self, text: &str) -> bool {
        let steps = u32::try_from(text.len() / BYTES).unwrap_or(u32::MAX);
        self.spend(steps.saturating_add(1))
    }
}

/// Returns true if two values are equal; 1 is 1.0. `None` if the fuel does not last.
pub(super) fn same(a: &Value, b: &Value, fuel: &mut Fuel) -> Option<bool> {
    fuel.spend(1).then_some(())?;
    Some(match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::String(a), Value::String(b)) if a.len() == b.len() => {
            fuel.spend_on(a).then_some(())?;
            a == b
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (a, b) in a.iter().zip(b) {
                if !same(a, b, fuel)? {
                    return Some(false);
                }
            }
            true
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            for (name, a) in a {
                fuel.spend_on(name).then_some(())?;
                let Some(b) = b.get(name) else {
                    return Some(false);
                };
                if !same(a, b, fuel)? {
                    return Some(false);
                }
            }
            true
        }
        (Value::String(_), Value::String(_))
        | (Value::Array(_), Value::Array(_))
        | (Value::Object(_), Value::Object(_)) => false,
        _ => a == b,
    })
}

/// Returns true if a value has the type with this name; `None` for a type that
/// does not exist.
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

/// Enough for a result of megabytes, and over in a fraction of a second.
const FUEL: u32 = 4_000_000;

/// Bytes of text that are gone through in the time of one comparison.
const BYTES: usize = 16;
