//! Whatever goes wrong is said with a code of the specification, in a sentence.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sterna_server::{
    AskError, CompletionRequest, Cx, Extension, Prompt, Request, RequestError, Server, Uri,
};

use super::Client;

async fn panics(_: Cx<'_>, (): ()) -> String {
    panic!("a secret")
}

#[derive(Deserialize, JsonSchema)]
struct Word {
    #[expect(dead_code, reason = "nobody reads it")]
    word: Option<String>,
}

async fn prompt_panics(_: Cx<'_>, _: Word) -> String {
    panic!("a secret")
}

async fn prompt_fails(_: Cx<'_>, (): ()) -> Result<String, RequestError> {
    let number: u8 = "a secret".parse()?;
    Ok(number.to_string())
}

async fn read_panics(_: Cx<'_>, _: Uri) -> String {
    panic!("a secret")
}

async fn read_fails(_: Cx<'_>, _: Uri) -> Result<String, RequestError> {
    let number: u8 = "a secret".parse()?;
    Ok(number.to_string())
}

async fn suggestion_panics(_: CompletionRequest) -> Vec<String> {
    panic!("a secret")
}

async fn asks(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    cx.ask("name", "Name?").await
}

async fn method_panics(_: Request, _: Value) -> Result<Value, RequestError> {
    panic!("a secret")
}

fn client() -> Client {
    let extension = Extension::new("com.example/test").method("test/panics", method_panics);
    let broken = Prompt::new("panics", "", prompt_panics).completing("word", suggestion_panics);
    Client::of(
        Server::new("faults", "1")
            .extension(extension)
            .tool("panics", "", panics)
            .tool("asks", "", asks)
            .offer(broken)
            .prompt("fails", "", prompt_fails)
            .resource("test://panics", "panics", read_panics)
            .resource("test://fails", "fails", read_fails),
    )
}

fn complete(prompt: &str, argument: &str) -> Value {
    json!({
        "ref": {"type": "ref/prompt", "name": prompt},
        "argument": {"name": argument, "value": ""},
    })
}

#[tokio::test]
async fn a_fault_of_ours_is_an_internal_error_and_keeps_its_cause_to_itself() {
    let client = client();
    for (method, params) in [
        ("tools/call", json!({"name": "panics"})),
        ("prompts/get", json!({"name": "panics"})),
        ("prompts/get", json!({"name": "fails"})),
        ("resources/read", json!({"uri": "test://panics"})),
        ("resources/read", json!({"uri": "test://fails"})),
        ("completion/complete", complete("panics", "word")),
        ("test/panics", json!({})),
    ] {
        let reply = client.send(method, params.clone()).await;
        let error = reply.error();
        assert_eq!(reply.messages[0]["id"], 1, "{params}");
        assert!(
            error.ends_with(r#" -32603 "Internal error""#),
            "{params}: {error}"
        );
    }
}

#[tokio::test]
async fn errors_have_codes_of_the_specification_and_are_one_short_sentence() {
    let client = client();
    let poor = client.with_capabilities(json!({}));
    let cases = [
        (&client, "tools/call", json!({"name": "none"})),
        (&client, "tools/call", json!({"name": "panics"})),
        (
            &client,
            "tools/call",
            json!({"name": "asks", "requestState": 7}),
        ),
        (
            &client,
            "tools/call",
            json!({"name": "asks", "requestState": "x"}),
        ),
        (
            &client,
            "tools/call",
            json!({"name": "asks", "inputResponses": 7}),
        ),
        (&poor, "tools/call", json!({"name": "asks"})),
        (&client, "tools/list", json!({"cursor": "x"})),
        (&client, "prompts/get", json!({"name": "none"})),
        (&client, "prompts/get", json!({"name": "fails"})),
        (&client, "resources/read", json!({"uri": "test://none"})),
        (&client, "resources/read", json!({"uri": "test://fails"})),
        (&client, "completion/complete", complete("none", "word")),
        (&client, "completion/complete", complete("panics", "none")),
        (&client, "completion/complete", json!({})),
        (&client, "no/method", json!({})),
    ];
    let known = [
        -32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022,
    ];
    for (client, method, params) in cases {
        let reply = client.send(method, params.clone()).await;
        let error = &reply.messages[0]["error"];
        let code = error["code"].as_i64().unwrap();
        assert!(known.contains(&code), "{method} {params}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!((1..200).contains(&message.len()), "{message}");
        assert!(
            !message.contains('\n') && !message.ends_with('.'),
            "{message}"
        );
    }
}

#[tokio::test]
async fn what_goes_wrong_inside_is_not_logged_to_the_client() {
    let client = client().with_meta("io.modelcontextprotocol/logLevel", json!("debug"));
    for (method, params) in [
        ("tools/call", json!({"name": "panics"})),
        (
            "tools/call",
            json!({"name": "asks", "requestState": "s1.nonsense"}),
        ),
        ("prompts/get", json!({"name": "fails"})),
        ("resources/read", json!({"uri": "test://panics"})),
    ] {
        let reply = client.send(method, params).await;
        assert_eq!(reply.messages.len(), 1, "{method}: {:?}", reply.messages);
        assert!(reply.messages[0].get("error").is_some());
    }
}
