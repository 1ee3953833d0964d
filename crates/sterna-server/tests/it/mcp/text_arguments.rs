//! Arguments of prompts and variables of URIs, which come as text.

use expect_test::expect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sterna_protocol::content::{ContentBlock, Role};
use sterna_protocol::prompt::{GetPromptResult, PromptArgument, PromptMessage};
use sterna_protocol::result::Outcome;
use sterna_server::{
    Answers, Call, CompletionRequest, Cx, Prompt, RequestError, ResourceTemplate, Server,
};

use super::Client;

#[derive(Deserialize, JsonSchema)]
struct Page {
    number: u32,
    is_draft: bool,
}

async fn page(_: Cx<'_>, page: Page) -> String {
    format!("page {} draft {}", page.number, page.is_draft)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tone {
    Formal,
    Warm,
}

#[derive(Deserialize, JsonSchema)]
struct Letter {
    lines: i32,
    margin: Option<f64>,
    tone: Option<Tone>,
}

async fn letter(_: Cx<'_>, letter: Letter) -> String {
    let tone = letter.tone.map(|tone| match tone {
        Tone::Formal => "formal",
        Tone::Warm => "warm",
    });
    format!("{} lines, {:?}, {tone:?}", letter.lines, letter.margin)
}

async fn low_level(call: Call, _: Answers) -> Result<Outcome<GetPromptResult>, RequestError> {
    let letter: Letter = call.arguments()?;
    let text = ContentBlock::text(letter.lines.to_string());
    let message = PromptMessage::new(Role::User, text);
    Ok(Outcome::Complete(GetPromptResult::new(vec![message])))
}

async fn suggest(typed: CompletionRequest) -> Vec<String> {
    vec![format!("{}0", typed.value), format!("{:?}", typed.settled)]
}

fn client() -> Client {
    let low_level =
        Prompt::low_level("low", "", low_level).arguments(vec![PromptArgument::new("lines")]);
    Client::of(
        Server::new("text", "1")
            .offer(
                ResourceTemplate::new("page://{number}/{is_draft}", "page", page)
                    .completing("number", suggest),
            )
            .offer(Prompt::new("letter", "", letter).completing("lines", suggest))
            .offer(low_level),
    )
}

async fn prompt(client: &Client, name: &str, arguments: Value) -> String {
    let params = json!({"name": name, "arguments": arguments});
    let reply = client.send("prompts/get", params).await;
    if reply.messages[0].get("error").is_some() {
        return reply.error();
    }
    let text = reply.into_result()["messages"][0]["content"]["text"].clone();
    text.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_variable_of_a_uri_is_read_as_its_type() {
    let client = client();
    let read = async |uri: &str| client.send("resources/read", json!({"uri": uri})).await;
    let result = read("page://7/true").await.into_result();
    assert_eq!(result["contents"][0]["text"], "page 7 draft true");
    expect![[r#"200 -32602 "Unknown resource `page://seven/true`; `resources/list` has those of this server" {"uri":"page://seven/true"}"#]]
        .assert_eq(&read("page://seven/true").await.error());
}

#[tokio::test]
async fn an_argument_of_a_prompt_is_read_as_its_type() {
    let client = client();
    let said = prompt(&client, "letter", json!({"lines": "-3"})).await;
    assert_eq!(said, "-3 lines, None, None");
    let all = json!({"lines": "3", "margin": "1.5", "tone": "warm"});
    let said = prompt(&client, "letter", all).await;
    assert_eq!(said, r#"3 lines, Some(1.5), Some("warm")"#);
    expect![[r#"200 -32602 "Invalid params: the arguments are not valid: `lines` must be a whole number from -2147483648 to 2147483647""#]]
        .assert_eq(&prompt(&client, "letter", json!({"lines": "many"})).await);
    assert_eq!(prompt(&client, "low", json!({"lines": "5"})).await, "5");
}

#[tokio::test]
async fn an_argument_that_is_no_string_is_completed_as_text() {
    let client = client();
    let complete = async |reference: Value, name: &str| {
        let params = json!({
            "ref": reference, "argument": {"name": name, "value": "1"},
            "context": {"arguments": {"margin": "2"}},
        });
        let result = client.send("completion/complete", params).await;
        result.into_result()["completion"]["values"].clone()
    };
    let expected = json!(["10", r#"{"margin": "2"}"#]);
    let letter = json!({"type": "ref/prompt", "name": "letter"});
    assert_eq!(complete(letter, "lines").await, expected);
    let page = json!({"type": "ref/resource", "uri": "page://{number}/{is_draft}"});
    assert_eq!(complete(page, "number").await, expected);
}

#[test]
fn a_handler_that_takes_what_the_pattern_does_not_have_is_not_built() {
    let template = ResourceTemplate::new("page://{number}", "page", page);
    let error = Server::new("text", "1")
        .offer(template)
        .build()
        .unwrap_err();
    let problems: Vec<_> = error.problems().collect();
    expect!["the resource template `page://{number}` has a handler that takes `is_draft`, which is no variable of it; write `{is_draft}` into the pattern or make the member an `Option`"]
        .assert_eq(&problems.join("\n"));
}
