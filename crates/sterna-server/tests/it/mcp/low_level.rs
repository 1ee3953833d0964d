use serde_json::json;
use sterna_protocol::elicitation::{ElicitRequestFormParams, FormSchema, StringSchema};
use sterna_protocol::input::{InputRequest, InputRequired, RequestState};
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::CallToolResult;
use sterna_server::{Answers, AskError, Call, Server, Tool};

use super::{Client, accept, show};

fn question(key: &str) -> InputRequest {
    let form = FormSchema::new().with_required(key, StringSchema::default());
    InputRequest::elicit(ElicitRequestFormParams::new(format!("{key}?"), form))
}

/// Asks for `first`, keeps it in its own state, asks for `second`.
async fn two_rounds(call: Call, answers: Answers) -> Result<Outcome<CallToolResult>, AskError> {
    let first = match (call.state(), answers.form::<String>("first")) {
        (Some(first), _) => first.to_owned(),
        (None, Some(first)) => first?,
        (None, None) => {
            let required = InputRequired::asking("first", question("first"));
            return Ok(Outcome::InputRequired(required));
        }
    };
    let Some(second) = answers.form::<String>("second") else {
        let required = InputRequired::asking("second", question("second"));
        let required = required.with_state(RequestState::new(first));
        return Ok(Outcome::InputRequired(required));
    };
    let text = format!("first={first};second={}", second?);
    Ok(Outcome::Complete(CallToolResult::text(text)))
}

/// Sends the client away twice without asking anything.
async fn shed(call: Call, _: Answers) -> Result<Outcome<CallToolResult>, AskError> {
    let round = call.round();
    if round < 2 {
        let state = RequestState::new(round.to_string());
        return Ok(Outcome::InputRequired(InputRequired::retry_with(state)));
    }
    let state = call.state().unwrap_or("nothing");
    Ok(Outcome::Complete(CallToolResult::text(format!(
        "after {state}"
    ))))
}

async fn panics(_: Call, _: Answers) -> Result<Outcome<CallToolResult>, AskError> {
    panic!("as told")
}

fn client() -> Client {
    Client::of(
        Server::new("low", "1")
            .offer(Tool::low_level("two_rounds", "Asks twice", two_rounds))
            .offer(Tool::low_level("shed", "Goes away", shed))
            .offer(Tool::low_level("panics", "Panics", panics)),
    )
}

#[tokio::test]
async fn an_author_may_ask_and_keep_state_by_hand() {
    let rounds = [
        json!({"first": accept(json!({"first": "a"}))}),
        json!({"second": accept(json!({"second": "b"}))}),
    ];
    let shown = client().play("two_rounds", json!({}), &rounds).await;
    assert_eq!(
        shown,
        "ask {first: first?} -> ask {second: second?} -> first=a;second=b"
    );
}

#[tokio::test]
async fn the_state_of_an_author_is_sealed() {
    let params = json!({"name": "two_rounds", "arguments": {}});
    let answers = json!({"first": accept(json!({"first": "secret"}))});
    let client = client();
    let result = client
        .retry("tools/call", &params, &json!({}), answers)
        .await
        .into_result();
    let state = result["requestState"].as_str().unwrap();
    assert!(state.starts_with("s1.") && !state.contains("secret"));
    let forged = json!({"requestState": "secret"});
    let reply = client
        .retry("tools/call", &params, &forged, json!({}))
        .await;
    assert!(reply.error().starts_with("400 -32602"));
}

#[tokio::test]
async fn with_a_state_only_what_was_asked_counts() {
    let rounds = [
        json!({"first": accept(json!({"first": "a"}))}),
        json!({"first": accept(json!({"first": "x"})), "third": 7}),
        json!({"second": accept(json!({"second": 5}))}),
        json!({"second": {"action": "decline"}}),
    ];
    let shown = client().play("two_rounds", json!({}), &rounds).await;
    let again = "ask {second: second?}";
    assert_eq!(
        shown,
        format!(
            "ask {{first: first?}} -> {again} -> {again} -> {again} -> error: The user declined."
        )
    );
}

#[tokio::test]
async fn a_round_that_asks_nothing_spells_it_out() {
    let client = client();
    let result = client.call_tool("shed", json!({})).await;
    assert_eq!(result["inputRequests"], json!({}));
    let shown = client
        .play("shed", json!({}), &[json!({}), json!({})])
        .await;
    assert_eq!(shown, "ask {} -> ask {} -> after 1");
}

#[tokio::test]
async fn a_question_that_the_client_cannot_be_asked_is_not_sent() {
    let mute = client().with_capabilities(json!({"sampling": {}}));
    let reply = mute
        .send("tools/call", json!({"name": "two_rounds", "arguments": {}}))
        .await;
    let expected = r#"{"requiredCapabilities":{"elicitation":{"form":{}}}}"#;
    assert!(reply.error().ends_with(expected), "{}", reply.error());
}

#[tokio::test]
async fn a_handler_that_panics_fails_its_own_call() {
    let client = client();
    let reply = client
        .send("tools/call", json!({"name": "panics", "arguments": {}}))
        .await;
    assert_eq!(reply.error(), r#"500 -32603 "Internal error""#);
    assert_eq!(
        show(&client.call_tool("two_rounds", json!({})).await),
        "ask {first: first?}"
    );
}
