//! A reader that is slow and plain: everything becomes a `Value` first.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

/// Outcome of a decoder, comparable between two of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    Request(Value, String, Value),
    Notification(String, Value),
    Result(Value, Value),
    Error(Option<Value>, Value),
    Refused {
        code: i64,
        answer: Option<Value>,
        ends: Option<Value>,
    },
}

/// Decoding of payloads: `None` for an unknown name, `Some(None)` for a
/// malformed payload of a known one.
pub(crate) struct Side {
    pub(crate) request: fn(&str, Option<&Value>) -> Option<Option<Value>>,
    pub(crate) notification: fn(&str, Option<&Value>) -> Option<Option<Value>>,
    pub(crate) result: fn(&Map<String, Value>) -> Option<Value>,
}

/// Reads `bytes`; `None` if a `Value` cannot hold what JSON's grammar allows
/// (a number of any size, half a surrogate pair).
pub(crate) fn read(bytes: &[u8], side: &Side) -> Option<Verdict> {
    let refused = |code| {
        Some(Verdict::Refused {
            code,
            answer: None,
            ends: None,
        })
    };
    let Ok(text) = str::from_utf8(bytes) else {
        return refused(-32700);
    };
    if serde_json::from_str::<serde::de::IgnoredAny>(text).is_err() {
        return refused(-32700);
    }
    if !text.trim_start().starts_with('{') {
        return refused(-32600);
    }
    let Members(members) = serde_json::from_str(text).ok()?;
    Some(judge(&members, side))
}

fn judge(members: &[(String, Value)], side: &Side) -> Verdict {
    let all = |name: &str| -> Vec<&Value> {
        let same = members.iter().filter(|(member, _)| member == name);
        same.map(|(_, value)| value).collect()
    };
    let one = |name: &str| all(name).first().copied();
    let known = ["jsonrpc", "id", "method", "params", "result", "error"];
    let doubled = known.iter().any(|name| all(name).len() > 1);

    let id = (all("id").len() == 1).then(|| one("id")).flatten();
    let id = id.and_then(integer_or_string);
    let responds = one("method").is_none() && (one("result").is_some() || one("error").is_some());
    let refused = |code| Verdict::Refused {
        code,
        answer: id.clone().filter(|_| !responds),
        ends: id.clone().filter(|_| responds),
    };

    let null_id = one("id") == Some(&Value::Null);
    let bad_id = one("id").is_some() && id.is_none() && !null_id;
    if doubled || bad_id || one("jsonrpc") != Some(&Value::from("2.0")) {
        return refused(-32600);
    }
    match (one("method"), one("result"), one("error")) {
        (Some(Value::String(method)), None, None) => {
            if null_id {
                return refused(-32600);
            }
            let params = one("params");
            let found = match (&id, params) {
                (Some(_), params) => (side.request)(method, params),
                (None, params) => (side.notification)(method, params),
            };
            match (found, id.clone()) {
                (None, _) => refused(-32601),
                (Some(None), _) => refused(-32602),
                (Some(Some(params)), Some(id)) => Verdict::Request(id, method.clone(), params),
                (Some(Some(params)), None) => Verdict::Notification(method.clone(), params),
            }
        }
        (None, Some(result), None) if one("params").is_none() => {
            let result = result.as_object().and_then(side.result);
            match (id.clone(), result) {
                (Some(id), Some(result)) => Verdict::Result(id, result),
                _ => refused(-32600),
            }
        }
        (None, None, Some(Value::Object(error)))
            if one("params").is_none()
                && error.get("code").is_some_and(Value::is_i64)
                && error.get("message").is_some_and(Value::is_string) =>
        {
            Verdict::Error(id.clone(), Value::Object(error.clone()))
        }
        _ => refused(-32600),
    }
}

fn integer_or_string(id: &Value) -> Option<Value> {
    match id {
        Value::String(_) => Some(id.clone()),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Some(whole.into()),
            // A whole double prints without a fraction, and only then parses.
            None if number.is_f64() && number.as_f64()?.abs() < 2_f64.powi(53) => {
                format!("{:.20}", number.as_f64()?)
                    .strip_suffix(".00000000000000000000")?
                    .parse::<i64>()
                    .ok()
                    .map(Value::from)
            }
            None => None,
        },
        _ => None,
    }
}

/// An object as it stands in the text: in order, doubles included.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Members, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Collect)
    }
}
