use expect_test::expect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sterna_server::auth::Principal;
use sterna_server::{AskError, Cx, Json, SamplingRequest, ToolError, Uri};
use sterna_testkit::Flow;

use crate::Outside;

#[derive(Deserialize, JsonSchema)]
struct Deploy {
    service: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Approval {
    /// Why is it safe?
    reason: String,
    #[serde(default)]
    tested: bool,
}

async fn deploy(cx: Cx<'_>, args: Deploy) -> Result<String, ToolError> {
    let service = args.service;
    let plan = cx
        .step("plan", || async { format!("{service} on 2 hosts") })
        .await;
    let approval: Approval = cx.ask("approval", format!("Deploy {plan}?")).await?;
    let owner: String = cx.ask("owner", "Who owns it?").await?;
    let outside = cx.state::<Outside>().clone();
    cx.once("apply", |_| async move {
        outside.does("apply");
    })
    .await?;
    Ok(format!("{plan}: {}, {owner}", approval.reason))
}

fn flow() -> Flow {
    let approval = Approval {
        reason: "green".to_owned(),
        tested: true,
    };
    Flow::of(deploy)
        .args(json!({"service": "shop"}))
        .world(Outside::default, Outside::done)
        .answer("approval", approval)
        .answer("owner", "ada")
}

#[tokio::test]
async fn a_run_says_what_was_asked_done_and_returned() {
    let run = flow().run().await;
    run.asked("approval")
        .in_round(1)
        .saying("Deploy shop on 2 hosts?")
        .with_schema(&json!({
            "type": "object",
            "properties": {
                "reason": {"type": "string", "description": "Why is it safe?"},
                "tested": {"type": "boolean", "default": false},
            },
            "required": ["reason"],
        }));
    run.asked("owner").in_round(2);
    assert_eq!(run.questions(), ["approval", "owner"]);
    assert_eq!(run.steps(), ["plan", "apply"]);
    assert_eq!(run.effects(), ["apply"]);
    assert_eq!(run.rounds(), 3);
    assert_eq!(run.text(), "shop on 2 hosts: green, ada");
    expect![[r#"
        round 1
          client    tools/call deploy {"service":"shop"}
          server    ran plan
          server    asks `approval`: "Deploy shop on 2 hosts?" {reason: string, tested?: boolean}
        round 2
          client    answers `approval`: {"reason":"green","tested":true}
          server    asks `owner`: "Who owns it?" {owner: string}
        round 3
          client    answers `owner`: {"owner":"ada"}
          server    ran apply
          server    "shop on 2 hosts: green, ada"
    "#]]
    .assert_eq(&run.transcript());
}

#[tokio::test]
async fn a_decline_and_a_cancel_reach_the_handler() {
    let declined = Flow::of(deploy)
        .args(json!({"service": "shop"}))
        .state(Outside::default)
        .decline("approval");
    let run = declined.run().await;
    assert!(run.is_error());
    assert_eq!(run.text(), "The user declined.");
    let cancelled = Flow::of(deploy)
        .args(json!({"service": "shop"}))
        .state(Outside::default)
        .cancel("approval");
    assert_eq!(cancelled.run().await.text(), "The user did not answer.");
}

async fn everything(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let page = "https://example.com/in".parse().unwrap();
    let (sure, text, roots, visited) = tokio::join!(
        cx.confirm("sure", "Sure?"),
        cx.sample("text", SamplingRequest::new("Write.", 9)),
        cx.roots("roots"),
        cx.ask_url("signin", "Sign in", page),
    );
    visited?;
    let text = text?.content.blocks().len();
    Ok(format!("{} {text} {}", sure?, roots?.len()))
}

#[tokio::test]
async fn everything_that_can_be_asked_can_be_answered() {
    let flow = Flow::of(everything)
        .agree("sure")
        .agree("signin")
        .sample("text", "a poem")
        .roots("roots", &["file:///a", "file:///b"]);
    let run = flow.run().await;
    assert_eq!(run.text(), "true 1 2");
    assert_eq!(
        run.asked("text").saying("Write.").method(),
        "sampling/createMessage"
    );
    let page = run.asked("signin").params()["url"].clone();
    assert_eq!(page, "https://example.com/in");
    expect![[r#"
        round 1
          client    tools/call everything {}
          server    asks `roots`: its roots
          server    asks `signin`: "Sign in" at https://example.com/in
          server    asks `sure`: "Sure?"
          server    asks `text` of the model: "Write."
        round 2
          client    responds to `roots`: {"roots":[{"uri":"file:///a"},{"uri":"file:///b"}]}
          client    agrees to `signin`
          client    agrees to `sure`
          client    responds to `text`: {"role":"assistant","model":"scripted","content":{"type":"text","text":"a poem"}}
          server    "true 1 2"
    "#]].assert_eq(&run.transcript());
    flow.check().await;
}

async fn perhaps(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let name = cx
        .ask("name", "Who are you?")
        .fallback("stranger".to_owned());
    name.await
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_gets_the_fallback() {
    let mute = Flow::of(perhaps).capabilities(json!({}));
    assert_eq!(mute.run().await.text(), "stranger");
    mute.check().await;
    assert_eq!(
        Flow::of(perhaps).answer("name", "Ada").run().await.text(),
        "Ada"
    );
}

async fn strict(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    cx.ask("name", "Who are you?").await
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_and_must_be_gets_an_error() {
    let run = Flow::of(strict).capabilities(json!({})).run().await;
    assert!(run.is_error());
    assert!(run.text().starts_with("-32021 "), "{run}");
}

#[derive(Serialize, JsonSchema)]
struct Seen {
    subject: Option<String>,
    layer: u8,
}

async fn around(cx: Cx<'_>, (): ()) -> Json<Seen> {
    Json(Seen {
        subject: cx.caller().principal().subject().map(ToOwned::to_owned),
        layer: cx.extensions().get::<u8>().copied().unwrap_or_default(),
    })
}

#[tokio::test]
async fn a_handler_finds_its_caller_and_what_layers_have_put_there() {
    let run = Flow::of(around)
        .caller(Principal::named("kit", "ada"))
        .extension(7_u8)
        .run()
        .await;
    let seen: serde_json::Value = run.content();
    assert_eq!(seen, json!({"subject": "ada", "layer": 7}));
}

#[derive(Deserialize, JsonSchema)]
struct Brief {
    topic: String,
}

async fn brief(cx: Cx<'_>, args: Brief) -> Result<String, AskError> {
    let audience: String = cx.ask("audience", "For whom?").await?;
    Ok(format!("{} for {audience}", args.topic))
}

#[tokio::test]
async fn a_prompt_is_tested_as_a_tool_is() {
    let flow = Flow::of_prompt(brief)
        .args(json!({"topic": "Birds"}))
        .answer("audience", "children");
    assert_eq!(flow.run().await.text(), "Birds for children");
    flow.check().await;
}

async fn secret(cx: Cx<'_>, uri: Uri) -> Result<String, AskError> {
    let pin: u16 = cx.ask("pin", "Which PIN?").await?;
    Ok(format!("{uri} opened with {pin}"))
}

#[tokio::test]
async fn a_resource_is_tested_as_a_tool_is() {
    let flow = Flow::of_resource("test://secret", secret).answer("pin", 1234);
    assert_eq!(flow.run().await.text(), "test://secret opened with 1234");
    flow.check().await;
}

async fn twice(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let age: u8 = cx.ask("age", "How old are you?").await?;
    Ok(format!("{age} years"))
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_again() {
    let run = Flow::of(twice)
        .answer("age", "old")
        .answer("age", 36)
        .run()
        .await;
    assert_eq!(run.questions(), ["age", "age~2"]);
    run.asked("age~2").in_round(2);
    assert_eq!(run.text(), "36 years");
}

#[tokio::test]
async fn a_question_without_an_answer_is_named() {
    let failure = Flow::of(twice).answer("name", "Ada").try_run().await;
    expect![[r#"
        `twice` asks `age`, and the script has no answer left to it

          It asks `age`: "How old are you?" {age: integer}.
          The script answers: name.

        round 1
          client    tools/call twice {}
          server    asks `age`: "How old are you?" {age: integer}
    "#]]
    .assert_eq(&failure.unwrap_err().to_string());
}

#[tokio::test]
async fn an_answer_without_a_question_is_named() {
    let failure = Flow::of(twice)
        .answer("age", 36)
        .answer("name", "Ada")
        .try_run()
        .await;
    expect![[r#"
        `twice` ended, and never asked for the answer to `name`

        round 1
          client    tools/call twice {}
          server    asks `age`: "How old are you?" {age: integer}
        round 2
          client    answers `age`: {"age":36}
          server    "36 years"
    "#]]
    .assert_eq(&failure.unwrap_err().to_string());
}

#[tokio::test]
async fn why_a_request_failed_is_in_the_transcript() {
    async fn stateless(cx: Cx<'_>, (): ()) -> String {
        cx.state::<u8>().to_string()
    }
    let run = Flow::of(stateless).run().await;
    assert!(run.is_error());
    expect![[r#"
        round 1
          client    tools/call stateless {}
          log       MR0100: the handler panicked: MR0211: the server was given no `u8`: give it one with `Server::state`, name `stateless`
          server    error -32603 "Internal error"
    "#]].assert_eq(&run.transcript());
}
