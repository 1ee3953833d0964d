//! Tools whose forms have every kind of field, written by hand.

use serde_json::{Value, json};
use sterna_protocol::elicitation::{ElicitRequestFormParams, FormSchema};
use sterna_protocol::input::{InputRequest, InputRequired};
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::CallToolResult;
use sterna_server::{Answers, Call, Cx, Server, Tool, ToolError};

pub(crate) fn offer(server: Server) -> Server {
    server
        .offer(Tool::low_level(
            "test_elicitation_sep1034_defaults",
            "Asks with every kind of default",
            defaults,
        ))
        .offer(Tool::low_level(
            "test_elicitation_sep1330_enums",
            "Asks with every kind of choice",
            choices,
        ))
        .tool(
            "test_reconnection",
            "Answers in one go, so that there is nothing to come back for",
            at_once,
        )
}

async fn defaults(_: Call, answers: Answers) -> Result<Outcome<CallToolResult>, ToolError> {
    ask(
        &answers,
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "default": "John Doe"},
                "age": {"type": "integer", "default": 30},
                "score": {"type": "number", "default": 95.5},
                "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
                "verified": {"type": "boolean", "default": true},
            },
        }),
    )
}

async fn choices(_: Call, answers: Answers) -> Result<Outcome<CallToolResult>, ToolError> {
    let titled = |prefix: &str| -> Vec<Value> {
        let option = |n| json!({"const": format!("value{n}"), "title": format!("{prefix} {n}")});
        (1..=3).map(option).collect()
    };
    ask(
        &answers,
        json!({
            "type": "object",
            "properties": {
                "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
                "titledSingle": {"type": "string", "oneOf": titled("Option")},
                "legacyEnum": {
                    "type": "string",
                    "enum": ["opt1", "opt2", "opt3"],
                    "enumNames": ["Option 1", "Option 2", "Option 3"],
                },
                "untitledMulti": {
                    "type": "array",
                    "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
                },
                "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
            },
        }),
    )
}

fn ask(answers: &Answers, form: Value) -> Result<Outcome<CallToolResult>, ToolError> {
    let form: FormSchema = serde_json::from_value(form)?;
    let text = match answers.content("form", &form) {
        Some(Ok(content)) => format!("{} fields filled in", content.iter().count()),
        Some(Err(refused)) => refused.to_string(),
        None => {
            let question = ElicitRequestFormParams::new("Please fill this in.", form);
            let required = InputRequired::asking("form", InputRequest::elicit(question));
            return Ok(Outcome::InputRequired(required));
        }
    };
    Ok(Outcome::Complete(CallToolResult::text(text)))
}

async fn at_once(_: Cx<'_>, (): ()) -> &'static str {
    "There was nothing to wait for."
}
