use serde_json::json;
use sterna_server::{Cx, Refused, Script, Server};

use super::Client;

async fn plain(cx: Cx<'_>, (): ()) -> Result<String, Refused> {
    let (name, text) = tokio::join!(
        cx.ask::<String>("name", "Name?"),
        cx.sample("text", Script::new("Write.", 9)),
    );
    Ok(format!("{} {}", name?, text?.model))
}

async fn with_fallback(cx: Cx<'_>, (): ()) -> Result<String, Refused> {
    let name = cx
        .ask("name", "Name?")
        .fallback("nobody".to_owned())
        .await?;
    let text = cx.sample("text", Script::new("Write.", 9)).or_deny().await;
    let text = text.map_or_else(|refused| refused.to_string(), |text| text.model);
    let last: String = cx
        .ask("last", format!("{name}, last?"))
        .fallback("-".to_owned())
        .await?;
    Ok(format!("{name}/{text}/{last}"))
}

async fn visit(cx: Cx<'_>, (): ()) -> Result<String, Refused> {
    cx.ask_url("visit", "Go", "https://example.com".parse().unwrap())
        .await?;
    Ok("gone".to_owned())
}

fn client() -> Client {
    Client::of(
        Server::new("gating", "1")
            .tool("plain", "Asks", plain)
            .tool("with_fallback", "Asks if it can", with_fallback)
            .tool("visit", "Sends away", visit),
    )
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_told_exactly_what_it_lacks() {
    for (declared, expected) in [
        (json!({}), r#"{"elicitation":{"form":{}},"sampling":{}}"#),
        (json!({"sampling": {}}), r#"{"elicitation":{"form":{}}}"#),
        (json!({"elicitation": {}}), r#"{"sampling":{}}"#),
        (
            json!({"elicitation": {"url": {}}, "sampling": {}}),
            r#"{"elicitation":{"form":{}}}"#,
        ),
    ] {
        let client = client().with_capabilities(declared);
        let params = json!({"name": "plain", "arguments": {}});
        let reply = client.send("tools/call", params).await;
        assert_eq!(
            reply.error(),
            format!(
                r#"400 -32021 "Missing required client capability" {{"requiredCapabilities":{expected}}}"#
            )
        );
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
