use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sterna_server::{AskError, Cx, SamplingRequest, Server, ToolError};

use super::{Client, accept};

#[derive(Deserialize, JsonSchema)]
struct Profile {
    #[schemars(length(min = 1))]
    name: String,
    #[schemars(range(min = 18, max = 99))]
    age: u8,
    #[serde(default)]
    newsletter: bool,
}

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let profile: Profile = cx.ask("profile", "Who are you?").await?;
    Ok(format!(
        "{} {} {}",
        profile.name, profile.age, profile.newsletter
    ))
}

async fn two_rounds(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let first: String = cx.ask("first", "First?").await?;
    let counter = cx.state::<Arc<AtomicUsize>>().clone();
    let count = cx
        .step("count", || async move {
            counter.fetch_add(1, Ordering::SeqCst) + 1
        })
        .await;
    let second: String = cx.ask("second", format!("Second, after {first}?")).await?;
    Ok(format!("first={first};second={second};count={count}"))
}

async fn multi(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let (sure, text, roots, visited) = tokio::join!(
        cx.confirm("sure", "Sure?"),
        cx.sample("text", SamplingRequest::new("Write.", 9)),
        cx.roots("roots"),
        cx.ask_url(
            "signin",
            "Sign in",
            "https://example.com/in".parse().unwrap()
        ),
    );
    visited?;
    let text = text?.content.blocks().len();
    Ok(format!("{} {text} {}", sure?, roots?.len()))
}

fn server(counter: &Arc<AtomicUsize>) -> Server {
    Server::new("flows", "1")
        .state(Arc::clone(counter))
        .tool("greet", "Greets", greet)
        .tool("two_rounds", "Asks twice", two_rounds)
        .tool("multi", "Asks four things", multi)
}

fn client() -> Client {
    Client::of(server(&Arc::default()))
}

#[tokio::test]
async fn a_struct_is_asked_for_as_a_form_and_read_back() {
    let result = client().call_tool("greet", json!({})).await;
    let schema = &result["inputRequests"]["profile"]["params"]["requestedSchema"];
    assert_eq!(schema["required"], json!(["name", "age"]));
    assert_eq!(schema["properties"]["age"]["minimum"], 18);
    let shown = client()
        .play(
            "greet",
            json!({}),
            &[json!({"profile": accept(json!({"name": "Ada", "age": 36}))})],
        )
        .await;
    assert_eq!(shown, "ask {profile: Who are you?} -> Ada 36 false");
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_again_with_the_reason() {
    let shown = client()
        .play(
            "greet",
            json!({}),
            &[
                json!({"profile": accept(json!({"name": "Ada", "age": 17}))}),
                json!({"profile~2": {"no": "answer"}}),
                json!({}),
                json!({"profile~3": accept(json!({"name": "Ada", "age": 18}))}),
            ],
        )
        .await;
    let again = "ask {profile~3: Who are you?\n\nThe last answer was not accepted: it is not of the kind that was asked for.}";
    let expected = format!(
        "ask {{profile: Who are you?}} -> \
         ask {{profile~2: Who are you?\n\nThe last answer was not accepted: `age` must be at least 18.}} -> \
         {again} -> {again} -> Ada 18 false"
    );
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn declined_and_cancelled_become_polite_results() {
    for (action, expected) in [
        ("decline", "error: The user declined."),
        ("cancel", "error: The user did not answer."),
    ] {
        let answers = json!({"profile": {"action": action}});
        let shown = client().play("greet", json!({}), &[answers]).await;
        assert_eq!(
            shown,
            format!("ask {{profile: Who are you?}} -> {expected}")
        );
    }
}

#[tokio::test]
async fn every_round_may_be_served_by_another_instance_and_no_step_runs_twice() {
    let counter = Arc::new(AtomicUsize::new(0));
    let params = json!({"name": "two_rounds", "arguments": {}});
    let first = Client::of(server(&counter));
    let result = first.send("tools/call", params.clone()).await.into_result();
    let second = Client::of(server(&counter));
    let answers = json!({"first": accept(json!({"first": "a"}))});
    let result = second
        .retry("tools/call", &params, &result, answers)
        .await
        .into_result();
    assert_eq!(
        result["inputRequests"]["second"]["params"]["message"],
        "Second, after a?"
    );
    let third = Client::of(server(&counter));
    let answers = json!({"second": accept(json!({"second": "b"}))});
    let result = third
        .retry("tools/call", &params, &result, answers)
        .await
        .into_result();
    assert_eq!(result["content"][0]["text"], "first=a;second=b;count=1");
    assert_eq!(counter.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn several_questions_go_out_in_one_round_and_may_be_answered_in_several() {
    let model =
        json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}});
    let shown = client()
        .play(
            "multi",
            json!({}),
            &[
                json!({"sure": {"action": "accept"}, "text": model}),
                json!({
                    "signin": {"action": "accept"},
                    "roots": {"roots": [{"uri": "file:///a"}, {"uri": "file:///b"}]},
                }),
            ],
        )
        .await;
    let expected = "ask {roots: roots/list, signin: Sign in, sure: Sure?, text: sampling/createMessage} -> \
        ask {roots: roots/list, signin: Sign in} -> true 1 2";
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn a_confirmation_that_is_declined_is_a_no() {
    let model =
        json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}});
    let answers = json!({
        "sure": {"action": "decline"},
        "text": model,
        "signin": {"action": "accept"},
        "roots": {"roots": []},
    });
    let shown = client().play("multi", json!({}), &[answers]).await;
    assert!(shown.ends_with("-> false 1 0"), "{shown}");
}

#[tokio::test]
async fn answers_that_nobody_asked_for_get_no_credit() {
    let answers = json!({"profile": accept(json!({"name": "Eve", "age": 20}))});
    let params = json!({"name": "greet", "arguments": {}, "inputResponses": answers});
    let result = client().send("tools/call", params).await.into_result();
    assert_eq!(super::show(&result), "ask {profile: Who are you?}");
}

#[tokio::test]
async fn a_root_that_is_no_file_is_not_believed() {
    let answers = json!({"roots": {"roots": [{"uri": "https://a"}]}});
    let shown = client().play("multi", json!({}), &[answers]).await;
    assert!(shown.contains("-> ask {roots~2: roots/list"), "{shown}");
}

async fn endless(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    loop {
        let _: String = cx.ask("more", "More?").await?;
    }
}

#[tokio::test]
async fn a_flow_that_asks_without_end_is_stopped_after_eight_rounds() {
    let client = Client::of(Server::new("flows", "1").tool("endless", "Asks", endless));
    let params = json!({"name": "endless", "arguments": {}});
    let mut result = client
        .send("tools/call", params.clone())
        .await
        .into_result();
    for round in 1.. {
        let key = result["inputRequests"]
            .as_object()
            .unwrap()
            .keys()
            .next()
            .unwrap()
            .clone();
        let answers: Value = json!({key: accept(json!({"more": "x"}))});
        let reply = client.retry("tools/call", &params, &result, answers).await;
        if reply.messages[0].get("error").is_some() {
            assert_eq!(round, 8);
            let expected = r#"200 -32603 "The request needs more rounds than the server allows (`flow.max_rounds`)""#;
            assert_eq!(reply.error(), expected);
            return;
        }
        result = reply.into_result();
    }
}
