//! Messages in a few words, for transcripts.

use serde_json::{Map, Value};

/// A question as the transcript shows it.
pub(crate) fn question(key: &str, request: &Value) -> String {
    let params = &request["params"];
    match request["method"].as_str().unwrap_or_default() {
        "roots/list" => format!("asks `{key}`: its roots"),
        "sampling/createMessage" => {
            let said = &params["messages"][0]["content"]["text"];
            format!("asks `{key}` of the model: {said}")
        }
        _ if params["mode"] == "url" => {
            let url = params["url"].as_str().unwrap_or_default();
            format!("asks `{key}`: {} at {url}", params["message"])
        }
        _ => {
            let fields = fields(&params["requestedSchema"]);
            format!("asks `{key}`: {}{fields}", params["message"])
        }
    }
}

/// The fields of a form, such as ` {name: string, age?: integer}`.
fn fields(schema: &Value) -> String {
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    if properties.is_empty() {
        return String::new();
    }
    let required = schema["required"].as_array();
    let fields = properties.iter().map(|(name, field)| {
        let must = required.is_some_and(|required| required.iter().any(|one| one == name));
        let mark = if must { "" } else { "?" };
        format!("{name}{mark}: {}", kind(field))
    });
    format!(" {{{}}}", fields.collect::<Vec<_>>().join(", "))
}

fn kind(field: &Value) -> String {
    let choices = [&field["enum"], &field["items"]["enum"]];
    let choices = choices.iter().find_map(|choices| choices.as_array());
    match choices {
        Some(choices) => {
            let choices = choices.iter().filter_map(Value::as_str);
            choices.collect::<Vec<_>>().join("|")
        }
        None => field["type"].as_str().unwrap_or("any").to_owned(),
    }
}

/// An answer as the transcript shows it.
pub(crate) fn answer(key: &str, answer: &Value) -> String {
    match (answer["action"].as_str(), answer.get("content")) {
        (Some("accept"), Some(content)) => format!("answers `{key}`: {content}"),
        (Some("accept"), None) => format!("agrees to `{key}`"),
        (Some("decline"), _) => format!("declines `{key}`"),
        (Some("cancel"), _) => format!("cancels `{key}`"),
        _ => format!("responds to `{key}`: {answer}"),
    }
}
