use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sterna_protocol::elicitation::{
    ElicitRequestFormParams, ElicitRequestUrlParams, FormSchema, StringSchema,
};
use sterna_protocol::input::{InputRequest, InputRequired, RequestState};
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::CallToolResult;
use sterna_server::{Answers, AskError, Call, Cx, SamplingRequest, Server, Tool, Uri};

use super::{Session, next, show};
use crate::mcp::accept;

async fn name(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let name: String = cx.ask("name", "Who are you?").await?;
    Ok(format!("Hello, {name}!"))
}

async fn visit(cx: Cx<'_>, (): ()) -> Result<&'static str, AskError> {
    let url = "https://example.com/in".parse().unwrap();
    cx.ask_url("signin", "Sign in", url).await?;
    Ok("visited")
}

async fn wiretapped(cx: Cx<'_>, (): ()) -> Result<&'static str, AskError> {
    let url = "http://example.com/in".parse().unwrap();
    cx.ask_url("signin", "Sign in", url).await?;
    Ok("visited")
}

async fn low_wiretapped(_: Call, _: Answers) -> Result<Outcome<CallToolResult>, AskError> {
    let url = "http://example.com/in".parse().unwrap();
    let visit = InputRequest::elicit(ElicitRequestUrlParams::new("Sign in", url));
    Ok(Outcome::InputRequired(InputRequired::asking("in", visit)))
}

async fn model(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let written = cx
        .sample("poem", SamplingRequest::new("Write a poem", 10))
        .await?;
    Ok(format!("by {}", written.model))
}

async fn places(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    Ok(format!("{} roots", cx.roots("roots").await?.len()))
}

async fn thrice(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let mut all = Vec::new();
    for round in 0..12 {
        let text: String = cx
            .ask(&format!("q{round}"), format!("Round {round}?"))
            .await?;
        all.push(text);
    }
    Ok(all.concat())
}

async fn both(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let (left, right) = tokio::join!(
        cx.ask::<String>("left", "Left?"),
        cx.ask::<String>("right", "Right?"),
    );
    Ok(format!("{} {}", left?, right?))
}

async fn race(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    tokio::select! {
        left = cx.ask::<String>("left", "Left?") => left,
        right = cx.ask::<String>("right", "Right?") => right,
    }
}

async fn denied(cx: Cx<'_>, (): ()) -> String {
    let name = cx.ask::<String>("name", "Who are you?").optional().await;
    name.unwrap_or_else(|refused| refused.to_string())
}

#[derive(Deserialize, JsonSchema)]
struct Audience {
    audience: String,
}

async fn brief(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let audience: Audience = cx.ask("audience", "For whom?").await?;
    Ok(format!("For {}", audience.audience))
}

async fn secret(cx: Cx<'_>, uri: Uri) -> Result<String, AskError> {
    let pin: String = cx.ask("pin", "Which PIN?").await?;
    Ok(format!("{uri} opened with {pin}"))
}

/// Asks in two rounds and keeps the first answer in a state of its own.
async fn low_level(call: Call, answers: Answers) -> Result<Outcome<CallToolResult>, AskError> {
    let ask = |key: &str| {
        let form = FormSchema::new().with_required(key, StringSchema::default());
        InputRequest::elicit(ElicitRequestFormParams::new(format!("{key}?"), form))
    };
    match call.state() {
        None => Ok(Outcome::InputRequired(
            InputRequired::asking("first", ask("first")).with_state(RequestState::new("")),
        )),
        Some("") => {
            let first = answers.form::<String>("first").expect("an answer")?;
            let state = RequestState::new(first);
            let required = InputRequired::asking("second", ask("second")).with_state(state);
            Ok(Outcome::InputRequired(required))
        }
        Some(first) => {
            let second = answers.form::<String>("second").expect("an answer")?;
            let text = format!("first={first};second={second}");
            Ok(Outcome::Complete(CallToolResult::text(text)))
        }
    }
}

pub(crate) fn server() -> Server {
    Server::new("asking", "1")
        .tool("name", "Asks for a name", name)
        .tool("visit", "Sends to a page", visit)
        .tool("wiretapped", "Sends to an open page", wiretapped)
        .offer(Tool::low_level("low_wiretapped", "As well", low_wiretapped))
        .tool("model", "Has a model write", model)
        .tool("places", "Asks for roots", places)
        .tool("thrice", "Asks many times", thrice)
        .tool("both", "Asks two things at once", both)
        .tool("race", "Takes the first answer", race)
        .tool("denied", "Goes on without", denied)
        .offer(Tool::low_level("low_level", "Asks twice", low_level))
        .prompt("brief", "Asks for whom", brief)
        .prompt("poem", "Has a model write", model)
        .resource("test://secret", "secret", secret)
}

async fn check(method: &str, target: &str, answers: &[Value], expected: Expect) {
    let session = Session::of(server()).await;
    let params = match method {
        "resources/read" => json!({"uri": target}),
        _ => json!({"name": target}),
    };
    expected.assert_eq(&session.play(method, params, answers).await);
}

#[tokio::test]
async fn every_kind_of_question_is_a_request_that_is_answered() {
    let cases = [
        (
            "name",
            accept(json!({"name": "Ada"})),
            expect!["elicitation/create: Who are you? -> Hello, Ada!"],
        ),
        (
            "visit",
            json!({"action": "accept"}),
            expect!["elicitation/create: Sign in -> visited"],
        ),
        (
            "model",
            json!({"role": "assistant", "model": "m1", "content": {"type": "text", "text": "a"}}),
            expect!["sampling/createMessage -> by m1"],
        ),
        (
            "places",
            json!({"roots": [{"uri": "file:///a"}, {"uri": "file:///b"}]}),
            expect!["roots/list -> 2 roots"],
        ),
    ];
    for (tool, answer, expected) in cases {
        check("tools/call", tool, &[answer], expected).await;
    }
}

#[tokio::test]
async fn no_session_sends_its_user_to_a_page_that_is_not_https() {
    for tool in ["wiretapped", "low_wiretapped"] {
        check(
            "tools/call",
            tool,
            &[],
            expect![[r#"-32603 "Internal error""#]],
        )
        .await;
    }
}

#[tokio::test]
async fn prompts_and_resources_ask_too() {
    let audience = accept(json!({"audience": "cats"}));
    check(
        "prompts/get",
        "brief",
        &[audience],
        expect!["elicitation/create: For whom? -> For cats"],
    )
    .await;
    let pin = accept(json!({"pin": "1234"}));
    check(
        "resources/read",
        "test://secret",
        &[pin],
        expect!["elicitation/create: Which PIN? -> test://secret opened with 1234"],
    )
    .await;
}

#[tokio::test]
async fn a_handler_asks_in_more_rounds_than_a_modern_client_would_go_along_with() {
    let session = Session::of(server()).await;
    let answers: Vec<_> = (0..12)
        .map(|round| accept(json!({format!("q{round}"): round.to_string()})))
        .collect();
    let said = session
        .play("tools/call", json!({"name": "thrice"}), &answers)
        .await;
    assert!(
        said.ends_with("elicitation/create: Round 11? -> 01234567891011"),
        "{said}"
    );
}

#[tokio::test]
async fn a_low_level_handler_is_asked_for_with_its_own_state() {
    let answers = [
        accept(json!({"first": "a"})),
        accept(json!({"second": "b"})),
    ];
    check(
        "tools/call",
        "low_level",
        &answers,
        expect!["elicitation/create: first? -> elicitation/create: second? -> first=a;second=b"],
    )
    .await;
}

#[tokio::test]
async fn a_user_may_decline_or_go_away() {
    check(
        "tools/call",
        "name",
        &[json!({"action": "decline"})],
        expect!["elicitation/create: Who are you? -> error: The user declined."],
    )
    .await;
    check(
        "tools/call",
        "name",
        &[json!({"action": "cancel"})],
        expect!["elicitation/create: Who are you? -> error: The user did not answer."],
    )
    .await;
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_again() {
    let answers = [accept(json!({"name": 7})), accept(json!({"name": "Ada"}))];
    check(
        "tools/call",
        "name",
        &answers,
        expect![[r#"
        elicitation/create: Who are you? -> elicitation/create: Who are you?

        The last answer was not accepted: `name` must be text. -> Hello, Ada!"#]],
    )
    .await;
}

#[tokio::test]
async fn a_client_that_refuses_a_request_gives_no_answer() {
    let session = Session::of(server()).await;
    for (method, name, expected) in [
        ("tools/call", "name", "error: The user did not answer."),
        (
            "tools/call",
            "model",
            "error: The client refused what it was asked for.",
        ),
        (
            "prompts/get",
            "poem",
            "-32603 \"The client refused what it was asked for.\"",
        ),
    ] {
        let mut stream = session.start(method, json!({"name": name})).await;
        let question = next(&mut stream).await;
        let error = json!({"code": -1, "message": "no"});
        let refusal = json!({"jsonrpc": "2.0", "id": question["id"], "error": error});
        assert_eq!(session.post(refusal).await.status(), 202);
        assert_eq!(show(&next(&mut stream).await), expected);
    }
}

#[tokio::test]
async fn questions_are_out_at_once_and_answered_in_any_order() {
    let session = Session::of(server()).await;
    let mut stream = session.start("tools/call", json!({"name": "both"})).await;
    let (left, right) = (next(&mut stream).await, next(&mut stream).await);
    session.answer(&right, accept(json!({"right": "r"}))).await;
    session.answer(&left, accept(json!({"left": "l"}))).await;
    assert_eq!(show(&next(&mut stream).await), "l r");
}

#[tokio::test]
async fn a_question_that_lost_a_race_is_taken_back() {
    let session = Session::of(server()).await;
    let mut stream = session.start("tools/call", json!({"name": "race"})).await;
    let (left, right) = (next(&mut stream).await, next(&mut stream).await);
    session.answer(&right, accept(json!({"right": "r"}))).await;
    let cancelled = next(&mut stream).await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], left["id"]);
    assert_eq!(show(&next(&mut stream).await), "r");
}

#[tokio::test]
async fn a_wrong_a_foreign_and_a_second_answer_are_ignored() {
    let session = Session::of(server()).await;
    let other = Session::of(server()).await.on(&session);
    let mut stream = session.start("tools/call", json!({"name": "name"})).await;
    let question = next(&mut stream).await;
    let eve = accept(json!({"name": "Eve"}));
    session
        .answer(&json!({"id": "0000000000000000.1"}), eve.clone())
        .await;
    session.answer(&json!({"id": 1}), eve.clone()).await;
    other.answer(&question, eve.clone()).await;
    session
        .answer(&question, accept(json!({"name": "Ada"})))
        .await;
    session.answer(&question, eve).await;
    assert_eq!(show(&next(&mut stream).await), "Hello, Ada!");
}

#[tokio::test]
async fn a_client_is_asked_only_for_what_it_declared() {
    let none = Session::none(server());
    let cases = [
        ("2025-11-25", json!({}), "name", "-32021"),
        ("2025-11-25", json!({"elicitation": {}}), "visit", "-32021"),
        ("2025-11-25", json!({"sampling": {}}), "places", "-32021"),
        // These revisions do not have it, whatever a client declares.
        (
            "2025-06-18",
            json!({"elicitation": {"url": {}}}),
            "visit",
            "-32021",
        ),
        ("2025-03-26", json!({"elicitation": {}}), "name", "-32021"),
        (
            "2025-03-26",
            json!({"elicitation": {}}),
            "denied",
            "The client cannot ask the user.",
        ),
    ];
    for (version, capabilities, tool, expected) in cases {
        let session = none.open(version, capabilities).await;
        let said = session.play("tools/call", json!({"name": tool}), &[]).await;
        assert!(said.starts_with(expected), "{version} {tool}: {said}");
    }
}

#[tokio::test]
async fn a_client_that_reads_no_stream_is_not_asked() {
    let session = Session::of(server()).await;
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "denied"}});
    let mut response = session
        .http(http::Method::POST, "application/json", call.to_string())
        .await;
    assert_eq!(
        show(&next(&mut response).await),
        "The client cannot ask the user."
    );
}

#[tokio::test]
async fn questions_have_the_shape_of_their_revision() {
    let none = Session::none(server());
    let session = none.open("2025-06-18", json!({"elicitation": {}})).await;
    let mut stream = session.start("tools/call", json!({"name": "name"})).await;
    let question = next(&mut stream).await;
    assert_eq!(question["params"].get("mode"), None);
    let session = Session::of(server()).await;
    let mut stream = session.start("tools/call", json!({"name": "visit"})).await;
    let question = next(&mut stream).await;
    assert_eq!(question["params"]["mode"], "url");
    assert_eq!(question["params"]["elicitationId"], question["id"]);
}
