//! Advice about a call that the server refused, from what the server lists.

use std::time::Duration;

use serde_json::{Map, Value};
use sterna_client::{Client, Error};
use sterna_protocol::jsonrpc::ErrorCode;
use sterna_protocol::tool::{CallToolResult, Tool};

use crate::exit::Failure;
use crate::rounds::{CallProgress, Ended};
use crate::screen::Screen;
use crate::suggest;
use crate::text::{Text, excerpt};

/// Says what to do about a call of `tool` that was refused, or that the tool
/// itself objected to.
pub(super) async fn about_call(
    reached: Result<CallProgress<CallToolResult>, Failure>,
    client: &Client,
    tool: &str,
    arguments: &Map<String, Value>,
    screen: Screen,
) -> Result<CallProgress<CallToolResult>, Failure> {
    let objected = match &reached {
        Ok(CallProgress::End(Ended { result, .. })) => result.is_error == Some(true),
        Ok(CallProgress::Later(_)) => false,
        Err(failed) => failed.hint.is_none() && is_about_params(failed),
    };
    if !objected {
        return reached;
    }
    let Some(tools) = tools(client).await else {
        return reached;
    };
    let names = || tools.iter().map(|tool| tool.name.as_str());
    let advice = match tools.iter().find(|found| found.name == tool) {
        None => Some(unknown("tool", tool, names())),
        Some(found) => about_arguments(found, arguments),
    };
    match (reached, advice) {
        (Err(failed), Some(advice)) => Err(failed.hint(advice)),
        (Ok(reached), Some(advice)) => {
            screen.note(Text::hint("hint") + ": " + advice);
            Ok(reached)
        }
        (reached, None) => reached,
    }
}

/// Says what to do about a prompt that was refused.
pub(super) async fn about_prompt<T>(
    reached: Result<T, Failure>,
    client: &Client,
    prompt: &str,
) -> Result<T, Failure> {
    let failed = match reached {
        Err(failed) if failed.hint.is_none() && is_about_params(&failed) => failed,
        reached => return reached,
    };
    let listed = tokio::time::timeout(PATIENCE, client.prompts().all()).await;
    let Ok(Ok(prompts)) = listed else {
        return Err(failed);
    };
    let names = || prompts.iter().map(|prompt| prompt.name.as_str());
    Err(match names().any(|name| name == prompt) {
        true => failed,
        false => failed.hint(unknown("prompt", prompt, names())),
    })
}

/// Returns true if the server refused because of a name or an argument.
fn is_about_params(failed: &Failure) -> bool {
    let error = failed.error.downcast_ref::<Error>();
    let code = error.and_then(Error::rpc).map(|refusal| refusal.code);
    matches!(
        code,
        Some(ErrorCode::INVALID_PARAMS | ErrorCode::METHOD_NOT_FOUND)
    )
}

async fn tools(client: &Client) -> Option<Vec<Tool>> {
    // Advice is not worth waiting for.
    let listed = tokio::time::timeout(PATIENCE, client.tools().all()).await;
    listed.ok()?.ok()
}

fn unknown<'a>(kind: &str, name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let known = suggest::among(name, known, &format!("its {kind}s are:"));
    format!("the server has no {kind} `{}`; {known}", excerpt(name))
}

/// Finds wrong arguments with the schema of the tool.
fn about_arguments(tool: &Tool, arguments: &Map<String, Value>) -> Option<String> {
    let schema = serde_json::to_value(&tool.input_schema).ok()?;
    let properties = schema["properties"].as_object()?;
    let names = || properties.keys().map(String::as_str);
    let tool = excerpt(&tool.name);
    let required = schema["required"].as_array().into_iter().flatten();
    let missing = required
        .filter_map(Value::as_str)
        .find(|name| !arguments.contains_key(*name));
    for (name, value) in arguments {
        let Some(property) = properties.get(name) else {
            let known = suggest::among(name, names(), &format!("`{tool}` takes"));
            return Some(format!(
                "`{}` is no argument of `{tool}`; {known}",
                excerpt(name)
            ));
        };
        if let Some(advice) = about_type(name, value, property) {
            return Some(advice);
        }
    }
    let missing = missing?;
    let write = match takes(properties.get(missing)?, "string") {
        Some(false) => format!("{missing}:=JSON"),
        _ => format!("{missing}=TEXT"),
    };
    let missing = excerpt(missing);
    Some(format!(
        "`{tool}` needs the argument `{missing}`; write {}",
        excerpt(&write)
    ))
}

/// Returns true if text was typed where the schema wants another type, or the
/// reverse.
fn about_type(name: &str, value: &Value, property: &Value) -> Option<String> {
    let wants = || {
        let wants = match &property["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect::<Vec<_>>(),
        };
        excerpt(&wants.join(" or "))
    };
    let shown = match crate::trace::is_secret_name(name) {
        true => "…".to_owned(),
        false => excerpt(
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
                .as_str(),
        ),
    };
    let name = excerpt(name);
    match (value, takes(property, "string")?) {
        (Value::String(_), false) => Some(format!(
            "`{name}={shown}` is text and `{name}` takes {}; write {name}:={shown}",
            wants()
        )),
        (Value::String(_), true) | (Value::Null, _) => None,
        (_, true) if wants() == "string" => Some(format!(
            "`{name}:={shown}` is no text and `{name}` takes text; write {name}={shown}"
        )),
        _ => None,
    }
}

/// Returns true if a property takes a value of this type; `None` if its schema
/// names no type.
fn takes(property: &Value, wanted: &str) -> Option<bool> {
    match &property["type"] {
        Value::String(one) => Some(one == wanted),
        Value::Array(several) => Some(several.iter().any(|each| each == wanted)),
        _ => None,
    }
}

const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(arguments: Value, expected: Expect) {
        let tool = serde_json::from_value(json!({
            "name": "refund",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "amount": {"type": "integer"},
                    "order": {"type": "string"},
                    "note": {"type": ["string", "null"]},
                    "password": {"type": "integer"},
                    "anything": {},
                },
                "required": ["amount"],
            },
        }));
        let arguments = arguments.as_object().unwrap();
        expected.assert_eq(&format!("{:?}", about_arguments(&tool.unwrap(), arguments)));
    }

    #[test]
    fn advice_names_the_argument_and_what_to_write() {
        check(
            json!({"amount": "1500"}),
            expect![[
                r#"Some("`amount=1500` is text and `amount` takes integer; write amount:=1500")"#
            ]],
        );
        check(
            json!({"amount": 1, "order": 7}),
            expect![[r#"Some("`order:=7` is no text and `order` takes text; write order=7")"#]],
        );
        check(
            json!({"amuont": 1}),
            expect![[
                r#"Some("`amuont` is no argument of `refund`; did you mean `amount`? `refund` takes amount, order, note, password, anything")"#
            ]],
        );
        check(
            json!({"order": "7"}),
            expect![[r#"Some("`refund` needs the argument `amount`; write amount:=JSON")"#]],
        );
        check(
            json!({"amount": 1, "password": "hunter2"}),
            expect![[
                r#"Some("`password=…` is text and `password` takes integer; write password:=…")"#
            ]],
        );
        check(
            json!({"amount": 1, "note": null, "anything": "x"}),
            expect!["None"],
        );
    }
}
