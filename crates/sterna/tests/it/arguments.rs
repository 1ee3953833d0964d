//! The options of arguments, and the names that functions and parameters may
//! have.

use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::Deserialize;
use sterna::server::{AskError, Cx, Server};

use crate::{answers, request};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Size {
    Large,
    Small,
}

/// Orders tea.
#[sterna::tool]
fn order(
    #[arg(length = 1..=5, pattern = "^[a-z]+$")] kind: String,
    #[arg(default = "milk")] with: String,
    #[arg(default)] sugar: u8,
    #[arg(range = 0.5..2.0, name = "perCup")] grams: f64,
    size: Size,
    note: Option<String>,
) -> String {
    let size = match size {
        Size::Large => "large",
        Size::Small => "small",
    };
    format!("{size} {kind} with {with}, {sugar} sugar, {grams} g, {note:?}")
}

/// Says a message, whatever its own name is.
#[sterna::tool(name = "say")]
async fn message(cx: Cx<'_>, message: String, args: String) -> Result<String, AskError> {
    let loud: bool = cx.ask("loud", "Loudly?").await?;
    Ok(format!("{message} {args} {loud}"))
}

#[cfg(any())]
/// Is left out of this build, with its tool.
#[sterna::tool]
fn missing() -> MissingType {}

#[track_caller]
fn check(arguments: &str, expected: Expect) {
    let params = format!(r#""name":"order","arguments":{arguments}"#);
    let answer = answers(
        || Server::new("tea", "1.0.0").offer(order::tool()),
        &[request("tools/call", &params)],
    );
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let text = &answer["result"]["content"][0]["text"];
    expected.assert_eq(text.as_str().unwrap_or(&answer.to_string()));
}

#[test]
fn defaults_fill_what_is_left_out() {
    check(
        r#"{"kind":"green","perCup":1,"size":"small"}"#,
        expect!["small green with milk, 0 sugar, 1 g, None"],
    );
    check(
        r#"{"kind":"black","perCup":0.5,"size":"large","with":"lemon","sugar":2,"note":"hot"}"#,
        expect![[r#"large black with lemon, 2 sugar, 0.5 g, Some("hot")"#]],
    );
}

#[test]
fn limits_are_enforced() {
    check(
        r#"{"kind":"rooibos","perCup":1,"size":"small"}"#,
        expect![[
            r#"The arguments are not valid: `kind` must have at most 5 characters, but it is "rooibos""#
        ]],
    );
    check(
        r#"{"kind":"Green","perCup":1,"size":"small"}"#,
        expect![[
            r#"The arguments are not valid: `kind` must match the pattern `^[a-z]+$`, but it is "Green""#
        ]],
    );
    check(
        r#"{"kind":"green","perCup":2.0,"size":"small"}"#,
        expect!["The arguments are not valid: `perCup` must be less than 2.0, but it is 2.0"],
    );
    check(
        r#"{"kind":"green","perCup":1,"size":"huge"}"#,
        expect![[
            r#"The arguments are not valid: `size` must be "large" or "small", but it is "huge""#
        ]],
    );
    check(
        r#"{"kind":"green","grams":1,"size":"small"}"#,
        expect![
            "The arguments are not valid: missing argument `perCup`; unexpected argument `grams`; `order` takes `kind`, `with`, `sugar`, `perCup`, `size` and `note`"
        ],
    );
}

#[test]
fn a_parameter_may_have_the_name_of_its_function() {
    let params = r#""name":"say","arguments":{"message":"hello","args":"world"}"#;
    let answer = answers(
        || Server::new("words", "1.0.0").offer(message::tool()),
        &[request("tools/call", params)],
    );
    assert!(
        answer.contains(r#""resultType":"input_required""#),
        "{answer}"
    );
}
