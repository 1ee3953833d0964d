//! Agreement of a type of this crate with the official schema about a value.

use serde_json::{Map, Value, json};

use super::catalog::Codec;
use super::schema::Schema;
use super::spec;

/// The schema of a revision, and what the specification says beside it.
pub(super) struct Judge<'a> {
    schema: Schema<'a>,
    /// 2025-06-18 and 2025-03-26 share the types of the last revision of their
    /// era, so what that one added is understood in them too.
    last: Option<Map<String, Value>>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(revision: &str, definitions: &'a Map<String, Value>) -> Self {
        let is_older = revision < "2025-11-25";
        Self {
            schema: Schema::new(definitions),
            last: spec::definitions("2025-11-25").filter(|_| is_older),
        }
    }

    pub(super) fn schema(&self) -> &Schema<'a> {
        &self.schema
    }

    /// Returns the difference between type and schema about `value`.
    pub(super) fn disagreement(&self, codec: Codec, name: &str, value: &Value) -> Option<String> {
        let story = match (codec(&value.to_string()), self.admits(name, value)) {
            (Ok(back), true) if is_same(value, &back) => return None,
            (Err(_), false) => return None,
            (Ok(back), true) => format!("changed into {back}"),
            (Ok(_), false) => "was taken".to_owned(),
            (Err(error), true) => format!("was refused: {error}"),
        };
        Some(format!("{name} {value} {story}"))
    }

    fn admits(&self, name: &str, value: &Value) -> bool {
        let last = self.last.as_ref().filter(|last| last.contains_key(name));
        admits(&self.schema, name, value)
            || last.is_some_and(|last| Schema::new(last).describes(name, value))
    }
}

fn admits(schema: &Schema<'_>, name: &str, value: &Value) -> bool {
    match name {
        // What a task of one status looks like is no type of its own.
        "CancelledTask" | "CompletedTask" | "FailedTask" | "InputRequiredTask" | "WorkingTask" => {
            schema.describes("DetailedTask", value)
        }
        // basic: a resultType that is not known must be considered invalid.
        "EmptyResult" if value["resultType"].is_string() => {
            value["resultType"] == "complete" && schema.describes(name, value)
        }
        // Errors are told apart by their code, and any code can come.
        "InternalError"
        | "InvalidParamsError"
        | "InvalidRequestError"
        | "MethodNotFoundError"
        | "ParseError" => schema.describes("Error", value),
        // The tools of a model do not run as tasks, so `execution` is ignored.
        "CreateMessageRequestParams" => schema.describes(name, &without_execution(value)),
        _ if schema.is_legacy() && value["method"] == "notifications/cancelled" => {
            schema.describes(name, &with_request_id(value))
        }
        _ => schema.describes(name, &without_null_id(value)),
    }
}

fn without_execution(value: &Value) -> Value {
    let mut value = value.clone();
    let tools = value.get_mut("tools").and_then(Value::as_array_mut);
    for tool in tools.into_iter().flatten().filter_map(Value::as_object_mut) {
        tool.remove("execution");
    }
    value
}

/// 2025-11-25: a cancellation need not say of what; earlier ones must, but one
/// that is malformed is to be ignored.
fn with_request_id(value: &Value) -> Value {
    let mut value = value.clone();
    if let Value::Object(message) = &mut value
        && let Value::Object(params) = message.entry("params").or_insert_with(|| json!({}))
    {
        params.entry("requestId").or_insert_with(|| json!(1));
    }
    value
}

/// JSON-RPC: an error that answers nothing readable has a null id, which MCP
/// leaves out.
fn without_null_id(value: &Value) -> Value {
    let mut value = value.clone();
    if let Value::Object(message) = &mut value
        && message.contains_key("error")
        && message.get("id") == Some(&Value::Null)
    {
        message.remove("id");
    }
    value
}

/// Returns true if `before` should be written as `after`.
fn is_same(before: &Value, after: &Value) -> bool {
    let mut before = without_null_id(before);
    // What an earlier server left out is written nevertheless.
    for place in ["", "/result"] {
        let complete = |after: &Value| after["resultType"] == "complete";
        let Some(Value::Object(result)) = before.pointer_mut(place) else {
            continue;
        };
        if after.pointer(place).is_some_and(complete) {
            result.insert("resultType".to_owned(), json!("complete"));
        }
    }
    if before["method"] == "notifications/cancelled" && before.get("params").is_none() {
        before["params"] = json!({});
    }
    before == *after
}
