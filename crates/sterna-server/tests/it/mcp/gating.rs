use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use sterna_protocol::sampling::{CreateMessageRequestParams, IncludeContext};
use sterna_server::{AskError, Cx, SamplingRequest, Server};

use super::Client;

async fn plain(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let (name, text) = tokio::join!(
        cx.ask::<String>("name", "Name?"),
        cx.sample("text", SamplingRequest::new("Write.", 9)),
    );
    Ok(format!("{} {}", name?, text?.model))
}

async fn with_tools(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let mut params = CreateMessageRequestParams::new(Vec::new(), 9);
    params.tools = Some(Vec::new());
    Ok(cx.sample("text", params).await?.model)
}

async fn with_context(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let mut params = CreateMessageRequestParams::new(Vec::new(), 9);
    params.include_context = Some(IncludeContext::ThisServer);
    Ok(cx.sample("text", params).await?.model)
}

async fn without_context(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let mut params = CreateMessageRequestParams::new(Vec::new(), 9);
    params.include_context = Some(IncludeContext::None);
    Ok(cx.sample("text", params).await?.model)
}

async fn with_fallback(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let name = cx
        .ask("name", "Name?")
        .fallback("nobody".to_owned())
        .await?;
    let text = cx
        .sample("text", SamplingRequest::new("Write.", 9))
        .optional()
        .await;
    let text = text.map_or_else(|refused| refused.to_string(), |text| text.model);
    let last: String = cx
        .ask("last", format!("{name}, last?"))
        .fallback("-".to_owned())
        .await?;
    Ok(format!("{name}/{text}/{last}"))
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    name: Option<String>,
}

async fn with_argument(cx: Cx<'_>, args: Greet) -> Result<String, AskError> {
    cx.ask("name", "Name?").fallback_to(args.name).await
}

async fn visit(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    cx.ask_url("visit", "Go", "https://example.com".parse().unwrap())
        .await?;
    Ok("gone".to_owned())
}

fn client() -> Client {
    Client::of(
        Server::new("gating", "1")
            .tool("plain", "Asks", plain)
            .tool("with_tools", "Gives the model tools", with_tools)
            .tool("with_context", "Wants context", with_context)
            .tool("without_context", "Wants none", without_context)
            .tool("with_fallback", "Asks if it can", with_fallback)
            .tool(
                "with_argument",
                "Asks, or takes the argument",
                with_argument,
            )
            .tool("visit", "Sends away", visit),
    )
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_told_exactly_what_it_lacks() {
    let (form, both) = ("`elicitation.form`", "`elicitation.form`, `sampling`");
    for (declared, names, expected) in [
        (
            json!({}),
            both,
            r#"{"elicitation":{"form":{}},"sampling":{}}"#,
        ),
        (
            json!({"sampling": {}}),
            form,
            r#"{"elicitation":{"form":{}}}"#,
        ),
        (
            json!({"elicitation": {}}),
            "`sampling`",
            r#"{"sampling":{}}"#,
        ),
        (
            json!({"elicitation": {"url": {}}, "sampling": {}}),
            form,
            r#"{"elicitation":{"form":{}}}"#,
        ),
    ] {
        let client = client().with_capabilities(declared);
        let params = json!({"name": "plain", "arguments": {}});
        let reply = client.send("tools/call", params).await;
        assert_eq!(
            reply.error(),
            format!(
                r#"400 -32021 "Missing required client capability {names}: declare it in `io.modelcontextprotocol/clientCapabilities` of the request's `_meta`" {{"requiredCapabilities":{expected}}}"#
            )
        );
    }
}

#[tokio::test]
async fn sampling_with_tools_or_context_is_asked_only_of_a_client_that_has_them() {
    let asked = "ask {text: sampling/createMessage}";
    for (tool, declared, expected) in [
        ("with_tools", json!({"sampling": {}}), r#"{"tools":{}}"#),
        ("with_tools", json!({"sampling": {"tools": {}}}), asked),
        ("with_context", json!({"sampling": {}}), r#"{"context":{}}"#),
        (
            "with_context",
            json!({"sampling": {"tools": {}}}),
            r#"{"context":{}}"#,
        ),
        ("with_context", json!({"sampling": {"context": {}}}), asked),
        ("without_context", json!({"sampling": {}}), asked),
    ] {
        let client = client().with_capabilities(declared.clone());
        let params = json!({"name": tool, "arguments": {}});
        let reply = client.send("tools/call", params).await;
        if expected == asked {
            assert_eq!(
                super::show(&reply.into_result()),
                asked,
                "{tool} {declared}"
            );
        } else {
            let missing = format!(r#"{{"requiredCapabilities":{{"sampling":{expected}}}}}"#);
            assert!(reply.error().ends_with(&missing), "{}", reply.error());
        }
    }
}

#[tokio::test]
async fn an_elicitation_without_modes_means_forms_only() {
    let client = client().with_capabilities(json!({"elicitation": {}}));
    let reply = client
        .send("tools/call", json!({"name": "visit", "arguments": {}}))
        .await;
    assert!(
        reply
            .error()
            .ends_with(r#"{"requiredCapabilities":{"elicitation":{"url":{}}}}"#)
    );
}

#[tokio::test]
async fn a_fallback_answers_in_place_of_a_client_that_cannot_be_asked() {
    let client = client().with_capabilities(json!({}));
    let shown = client.play("with_fallback", json!({}), &[]).await;
    assert_eq!(shown, "nobody/The client cannot ask the user./-");
}

#[tokio::test]
async fn an_argument_answers_for_a_client_that_cannot_be_asked_and_for_no_other() {
    let client = client();
    let named = json!({"name": "Ada"});
    let shown = client.play("with_argument", named.clone(), &[]).await;
    assert_eq!(shown, "ask {name: Name?}");
    let mute = client.with_capabilities(json!({}));
    assert_eq!(mute.play("with_argument", named, &[]).await, "Ada");
    let params = json!({"name": "with_argument", "arguments": {}});
    let reply = mute.send("tools/call", params).await;
    assert!(reply.error().starts_with("400 -32021"), "{}", reply.error());
}

#[tokio::test]
async fn what_was_decided_for_a_client_stays_decided_when_it_learns_to_be_asked() {
    let client = client();
    let params = json!({"name": "with_fallback", "arguments": {}});
    let samples = client.with_capabilities(json!({"sampling": {}}));
    let result = samples
        .send("tools/call", params.clone())
        .await
        .into_result();
    assert_eq!(super::show(&result), "ask {text: sampling/createMessage}");
    let model =
        json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}});
    // In this round the client can be asked; `name` was settled in the last one.
    let reply = client
        .retry("tools/call", &params, &result, json!({"text": model}))
        .await;
    assert_eq!(
        super::show(&reply.into_result()),
        "ask {last: nobody, last?}"
    );
}

#[tokio::test]
async fn capabilities_count_for_the_request_that_declares_them() {
    let client = client();
    let params = json!({"name": "plain", "arguments": {}});
    let result = client
        .send("tools/call", params.clone())
        .await
        .into_result();
    let mute = client.with_capabilities(json!({}));
    let reply = mute.retry("tools/call", &params, &result, json!({})).await;
    assert!(reply.error().starts_with("400 -32021"), "{}", reply.error());
}
