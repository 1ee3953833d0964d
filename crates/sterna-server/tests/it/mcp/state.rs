use std::time::Duration;

use serde_json::{Value, json};
use sterna_seal::Lifetimes;
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::{AskError, Cx, Server, ServerConfig, Tool};

use super::{Client, accept};

async fn greet(cx: Cx<'_>, args: serde_json::Map<String, Value>) -> Result<String, AskError> {
    let name: String = cx.ask("name", "Name?").await?;
    Ok(format!("{name} {}", args.len()))
}

fn server() -> Server {
    Server::new("state", "1")
        .tool("greet", "Greets", greet)
        .tool("other", "Greets too", greet)
}

const REFUSED: &str =
    r#"400 -32602 "Invalid or expired requestState" {"reason":"invalid_request_state"}"#;

async fn ask(client: &Client, arguments: Value) -> (Value, Value) {
    let params = json!({"name": "greet", "arguments": arguments});
    let result = client
        .send("tools/call", params.clone())
        .await
        .into_result();
    (params, result)
}

fn answers() -> Value {
    json!({"name": accept(json!({"name": "Ada"}))})
}

#[tokio::test]
async fn a_state_moved_to_another_tool_or_other_arguments_is_refused() {
    let client = Client::of(server());
    let (params, result) = ask(&client, json!({"a": 1})).await;
    for (name, arguments) in [
        ("other", json!({"a": 1})),
        ("greet", json!({"a": 2})),
        ("greet", json!({})),
    ] {
        let moved = json!({"name": name, "arguments": arguments});
        let reply = client.retry("tools/call", &moved, &result, answers()).await;
        assert_eq!(reply.error(), REFUSED);
    }
    let reply = client
        .retry("tools/call", &params, &result, answers())
        .await;
    assert_eq!(super::show(&reply.into_result()), "Ada 1");
}

#[tokio::test]
async fn arguments_may_be_spelled_in_another_way() {
    let client = Client::of(server());
    let (_, result) = ask(&client, json!({"a": 1, "b": [1.0]})).await;
    let same = json!({"name": "greet", "arguments": {"b": [1.0], "a": 1}});
    let reply = client.retry("tools/call", &same, &result, answers()).await;
    assert_eq!(super::show(&reply.into_result()), "Ada 2");
}

#[tokio::test]
async fn a_state_that_was_altered_cut_or_made_up_is_refused() {
    let client = Client::of(server());
    let (params, result) = ask(&client, json!({})).await;
    let state = result["requestState"].as_str().unwrap();
    let flipped = state.replace(&state[9..10], if &state[9..10] == "A" { "B" } else { "A" });
    for state in [
        flipped,
        format!("{state}-TAMPERED"),
        state[..state.len() / 2].to_owned(),
        String::new(),
    ] {
        let result = json!({"requestState": state});
        let reply = client
            .retry("tools/call", &params, &result, answers())
            .await;
        assert_eq!(reply.error(), REFUSED);
    }
}

#[tokio::test]
async fn a_state_or_answers_of_the_wrong_type_are_invalid_params() {
    let client = Client::of(server());
    let (params, result) = ask(&client, json!({})).await;
    for state in [json!(7), json!(null), json!({}), json!([])] {
        let result = json!({"requestState": state});
        let reply = client
            .retry("tools/call", &params, &result, answers())
            .await;
        let told = reply.error();
        assert!(
            told.starts_with(r#"400 -32602 "Invalid params: `requestState`: invalid type: "#),
            "{told}"
        );
    }
    for answers in [json!(null), json!([]), json!("x")] {
        let reply = client
            .retry("tools/call", &params, &result, answers.clone())
            .await;
        let told = reply.error();
        assert!(
            told.starts_with(r#"400 -32602 "Invalid params: `inputResponses`: invalid type: "#),
            "{told}"
        );
    }
    let reply = client
        .retry("tools/call", &params, &result, json!({"name": 12345}))
        .await;
    assert_eq!(
        reply.error(),
        r#"400 -32602 "Invalid params: `name` in `inputResponses` must be an object""#
    );
}

#[tokio::test]
async fn answers_under_unknown_keys_are_ignored_however_broken() {
    let client = Client::of(server());
    let (params, result) = ask(&client, json!({})).await;
    let mut answers = answers();
    answers["other"] = json!(12345);
    let reply = client.retry("tools/call", &params, &result, answers).await;
    assert_eq!(super::show(&reply.into_result()), "Ada 0");
}

#[tokio::test]
async fn a_state_that_is_too_old_is_refused() {
    let short = Lifetimes::new(Duration::ZERO, Duration::from_secs(60));
    let tool = Tool::new("greet", "Greets", greet).lifetimes(short);
    let client = Client::of(Server::new("state", "1").offer(tool));
    let (params, result) = ask(&client, json!({})).await;
    let reply = client
        .retry("tools/call", &params, &result, answers())
        .await;
    assert_eq!(reply.error(), REFUSED);
}

#[tokio::test]
async fn a_state_of_another_server_or_tenant_is_refused() {
    let (params, result) = ask(&Client::of(server()), json!({})).await;
    let mut config = ServerConfig::default();
    config.tenant = Some("other".to_owned());
    let tenant = Client::of(server().config(config));
    let renamed = Client::of(Server::new("another", "1").tool("greet", "Greets", greet));
    for client in [tenant, renamed] {
        let reply = client
            .retry("tools/call", &params, &result, answers())
            .await;
        assert_eq!(reply.error(), REFUSED);
    }
}

#[tokio::test]
async fn a_state_of_another_caller_is_refused() {
    let tokens = "token-of-ada ada\ntoken-of-eve eve\n";
    let gate = Gate::guarded(StaticTokens::parse(tokens).unwrap());
    let client = Client::of(server().gate(gate));
    let ada = client.with_token("token-of-ada");
    let (params, result) = ask(&ada, json!({})).await;
    let eve = client.with_token("token-of-eve");
    let reply = eve.retry("tools/call", &params, &result, answers()).await;
    assert_eq!(reply.error(), REFUSED);
    let reply = ada.retry("tools/call", &params, &result, answers()).await;
    assert_eq!(super::show(&reply.into_result()), "Ada 0");
}

#[tokio::test]
async fn who_a_client_says_it_is_decides_nothing() {
    let info = "io.modelcontextprotocol/clientInfo";
    let client = Client::of(server());
    let named = |name: &str| client.with_meta(info, json!({"name": name, "version": "1"}));
    let (one, other) = (named("one"), named("other"));
    let lists = [&client, &one, &other].map(|client| client.send("tools/list", json!({})));
    let [nobody, first, second] = lists;
    let expected = nobody.await.into_result();
    assert_eq!(first.await.into_result(), expected);
    assert_eq!(second.await.into_result(), expected);
    let (params, result) = ask(&one, json!({})).await;
    for client in [&client, &other] {
        let reply = client.retry("tools/call", &params, &result, answers());
        assert_eq!(super::show(&reply.await.into_result()), "Ada 0");
    }
}
