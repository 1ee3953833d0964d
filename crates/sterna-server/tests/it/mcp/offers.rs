use expect_test::expect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sterna_server::{
    AskError, CompletionRequest, Cx, Extension, Json, Request, RequestError, ResourceTemplate,
    Server, Tool, ToolError, Uri,
};

use super::{Client, accept, show};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    /// What to add up
    numbers: Vec<i32>,
}

#[derive(Serialize, JsonSchema)]
struct Total {
    total: i32,
}

async fn sum(_: Cx<'_>, args: Sum) -> Json<Total> {
    let total = args.numbers.iter().sum();
    Json(Total { total })
}

async fn liar(_: Cx<'_>, (): ()) -> &'static str {
    "no structure"
}

async fn broken(_: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let number: i32 = "x".parse()?;
    Ok(number.to_string())
}

async fn panics(_: Cx<'_>, (): ()) -> String {
    panic!("as told")
}

#[derive(Deserialize, JsonSchema)]
struct NotFlat {
    #[expect(dead_code, reason = "never asked for")]
    inner: Vec<String>,
}

async fn not_a_form(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let _: NotFlat = cx.ask("x", "?").await?;
    Ok(String::new())
}

#[derive(Deserialize, JsonSchema)]
struct Brief {
    /// What about
    topic: String,
}

async fn brief(cx: Cx<'_>, args: Brief) -> Result<String, AskError> {
    let audience: String = cx.ask("audience", "For whom?").await?;
    Ok(format!("Brief about {} for {audience}", args.topic))
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    id: String,
}

async fn note(cx: Cx<'_>, note: Note) -> Result<String, RequestError> {
    if note.id == "none" {
        return Err(RequestError::not_found("note://none"));
    }
    let pin: String = cx.ask("pin", "PIN?").await?;
    Ok(format!("note {} unlocked with {pin}", note.id))
}

async fn clock(_: Cx<'_>, uri: Uri) -> Vec<u8> {
    uri.as_str().as_bytes().to_vec()
}

async fn suggest(typed: CompletionRequest) -> Vec<String> {
    (0..200).map(|n| format!("{}{n}", typed.value)).collect()
}

fn client() -> Client {
    Client::of(
        Server::new("offers", "1")
            .offer(Tool::new("sum", "Adds", sum).output::<Total>())
            .offer(Tool::new("liar", "Lies", liar).output::<Total>())
            .tool("broken", "Breaks", broken)
            .tool("panics", "Panics", panics)
            .tool("not_a_form", "Asks the impossible", not_a_form)
            .prompt("brief", "Writes a brief", brief)
            .resource("clock://now", "clock", clock)
            .offer(
                ResourceTemplate::new("note://{id}", "note", note)
                    .mime_type("text/plain")
                    .completing("id", suggest),
            ),
    )
}

#[tokio::test]
async fn structured_content_goes_out_as_text_too() {
    let result = client().call_tool("sum", json!({"numbers": [1, 2]})).await;
    expect![[r#"{"resultType":"complete","content":[{"type":"text","text":"{\"total\":3}"}],"structuredContent":{"total":3},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"offers","version":"1"}}}"#]]
        .assert_eq(&result.to_string());
}

#[tokio::test]
async fn wrong_arguments_are_an_error_that_a_model_can_act_on() {
    let client = client();
    for (arguments, expected) in [
        (
            json!({"numbers": ["x"]}),
            expect![[
                r#"error: The arguments are not valid: `/numbers/0` must be an integer, but it is "x""#
            ]],
        ),
        (
            json!({}),
            expect![
                "error: The arguments are not valid: missing argument `numbers`; `sum` takes `numbers`"
            ],
        ),
    ] {
        expected.assert_eq(&show(&client.call_tool("sum", arguments).await));
    }
    let reply = client.send("tools/call", json!({"name": "none"})).await;
    assert_eq!(
        reply.error(),
        r#"200 -32602 "Unknown tool `none`; `tools/list` has those of this server""#
    );
}

#[tokio::test]
async fn an_error_of_a_handler_reaches_the_model() {
    let result = client().call_tool("broken", json!({})).await;
    assert_eq!(show(&result), "error: invalid digit found in string");
}

#[tokio::test]
async fn what_is_wrong_inside_stays_inside() {
    for name in ["liar", "panics", "not_a_form"] {
        let reply = client().send("tools/call", json!({"name": name})).await;
        assert_eq!(reply.error(), r#"500 -32603 "Internal error""#, "{name}");
    }
}

#[tokio::test]
async fn a_prompt_may_ask() {
    let client = client();
    let params = json!({"name": "brief", "arguments": {"topic": "terns"}});
    let result = client
        .send("prompts/get", params.clone())
        .await
        .into_result();
    assert_eq!(show(&result), "ask {audience: For whom?}");
    let answers = json!({"audience": accept(json!({"audience": "gulls"}))});
    let result = client
        .retry("prompts/get", &params, &result, answers)
        .await
        .into_result();
    let text = &result["messages"][0]["content"]["text"];
    assert_eq!(text, "Brief about terns for gulls");
    let reply = client.send("prompts/get", json!({"name": "brief"})).await;
    assert_eq!(
        reply.error(),
        r#"400 -32602 "Invalid params: missing argument `topic`; `brief` takes `topic`""#
    );
    let reply = client.send("prompts/get", json!({"name": "none"})).await;
    assert_eq!(
        reply.error(),
        r#"200 -32602 "Unknown prompt `none`; `prompts/list` has those of this server""#
    );
}

#[tokio::test]
async fn a_resource_may_ask() {
    let client = client();
    let params = json!({"uri": "note://7"});
    let result = client
        .send("resources/read", params.clone())
        .await
        .into_result();
    assert_eq!(show(&result), "ask {pin: PIN?}");
    let answers = json!({"pin": accept(json!({"pin": "1234"}))});
    let result = client
        .retry("resources/read", &params, &result, answers.clone())
        .await;
    expect![[r#"{"resultType":"complete","contents":[{"uri":"note://7","text":"note 7 unlocked with 1234","mimeType":"text/plain"}],"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"offers","version":"1"}}}"#]]
        .assert_eq(&result.into_result().to_string());
}

#[tokio::test]
async fn a_resource_that_does_not_exist_is_named_in_the_error() {
    for uri in ["none://x", "note://a/b", "note://none"] {
        let reply = client().send("resources/read", json!({"uri": uri})).await;
        assert_eq!(
            reply.error(),
            format!(
                r#"200 -32602 "Unknown resource `{uri}`; `resources/list` has those of this server" {{"uri":"{uri}"}}"#
            )
        );
    }
}

#[tokio::test]
async fn bytes_are_read_as_base64() {
    let result = client()
        .send("resources/read", json!({"uri": "clock://now"}))
        .await;
    assert_eq!(
        result.into_result()["contents"][0]["blob"],
        "Y2xvY2s6Ly9ub3c="
    );
}

#[tokio::test]
async fn suggestions_are_cut_off_at_a_hundred() {
    let params = |name: &str, argument: &str| {
        json!({
            "ref": {"type": "ref/resource", "uri": name},
            "argument": {"name": argument, "value": "n"},
        })
    };
    let client = client();
    let found = client
        .send("completion/complete", params("note://{id}", "id"))
        .await
        .into_result();
    assert_eq!(found["completion"]["values"].as_array().unwrap().len(), 100);
    assert_eq!(found["completion"]["hasMore"], true);
    assert_eq!(found["completion"]["values"][0], "n0");
    let reply = client
        .send("completion/complete", params("note://{id}", "x"))
        .await;
    assert_eq!(
        reply.error(),
        r#"400 -32602 "Invalid params: `note://{id}` has no argument `x` to complete""#
    );
    let reply = client.send("completion/complete", params("x", "id")).await;
    assert_eq!(
        reply.error(),
        r#"200 -32602 "Unknown prompt or resource template `x`; `prompts/list` has those of this server""#
    );
}

async fn moon(_: Request, params: Value) -> Result<Value, RequestError> {
    match params["day"].as_i64() {
        Some(day) => Ok(json!({"phase": day % 4})),
        None => Err(RequestError::invalid_params("on which day?")),
    }
}

#[tokio::test]
async fn an_extension_brings_its_own_methods() {
    let open = Extension::new("com.example/moon").method("moon/phase", moon);
    let closed = Extension::new("com.example/sun")
        .declared_only()
        .method("sun/phase", moon);
    let client = Client::of(Server::new("sky", "1").extension(open).extension(closed));
    let found = client
        .send("server/discover", json!({}))
        .await
        .into_result();
    let declared = &found["capabilities"]["extensions"];
    assert_eq!(
        declared,
        &json!({"com.example/moon": {}, "com.example/sun": {}})
    );
    let result = client
        .send("moon/phase", json!({"day": 6}))
        .await
        .into_result();
    assert_eq!(
        (&result["phase"], &result["resultType"]),
        (&json!(2), &json!("complete"))
    );
    let reply = client.send("moon/phase", json!({})).await;
    assert_eq!(reply.error(), r#"200 -32602 "on which day?""#);
    let reply = client.send("sun/phase", json!({"day": 6})).await;
    let missing = r#"{"requiredCapabilities":{"extensions":{"com.example/sun":{}}}}"#;
    assert!(reply.error().ends_with(missing), "{}", reply.error());
    let declares = client.with_capabilities(json!({"extensions": {"com.example/sun": {}}}));
    let result = declares
        .send("sun/phase", json!({"day": 6}))
        .await
        .into_result();
    assert_eq!(result["phase"], 2);
}
