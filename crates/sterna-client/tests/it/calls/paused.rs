//! Calls that stop at a question and go on elsewhere.

use expect_test::expect;
use serde_json::{Value, json};
use sterna_client::{CallOptions, Client, ErrorKind, PausedCall, Step};
use sterna_protocol::elicitation::{ElicitContent, ElicitResult};
use sterna_protocol::logging::LoggingLevel;
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::tool::CallToolResult;

use super::lines::connected_as;
use super::rounds::{ada, asks, text};
use super::scripted::{Scripted, done, name_form};

fn accept(name: &str) -> ElicitResult {
    ElicitResult::accept(ElicitContent::from_iter([("name", name)]))
}

async fn server() -> Scripted {
    Scripted::start(|_, count| match count {
        1 => json!({
            "resultType": "input_required",
            "inputRequests": {"a": name_form("A?"), "b": name_form("B?")},
            "requestState": "secret state",
        }),
        _ => done("hello"),
    })
    .await
}

async fn paused(client: &Client) -> PausedCall<CallToolResult> {
    let call = client.call("greet").arg("n", 1.0).meta("com.example/x", 1);
    match call.start().await.unwrap() {
        Step::InputRequired(paused) => paused,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_paused_call_goes_on_in_another_process() {
    let server = server().await;
    let stored = {
        let client = Client::connect(&server.url).await.unwrap();
        let mut paused = paused(&client).await;
        paused.answer("a", accept("Ada")).unwrap();
        serde_json::to_string(&paused).unwrap()
    };
    let mut paused: PausedCall<CallToolResult> = serde_json::from_str(&stored).unwrap();
    let open: Vec<_> = paused.open().map(|(key, _)| key.to_owned()).collect();
    assert_eq!(open, ["b"]);
    paused.answer("b", accept("Bob")).unwrap();

    let client = Client::connect(&server.url).await.unwrap();
    match paused.resume(&client).await.unwrap() {
        Step::Complete(result) => assert_eq!(text(&result), "hello"),
        other => panic!("{other:?}"),
    }
    let seen = server.seen("tools/call");
    assert_eq!(seen[0].params()["_meta"], seen[1].params()["_meta"]);
    expect![[r#"{"name":"greet","arguments":{"n":1.0},"inputResponses":{"a":{"action":"accept","content":{"colour":"red","name":"Ada"}},"b":{"action":"accept","content":{"colour":"red","name":"Bob"}}},"requestState":"secret state"}"#]]
        .assert_eq(&seen[1].bare());
}

#[tokio::test]
async fn nothing_is_sent_before_every_question_is_answered() {
    let server = server().await;
    let client = Client::connect(&server.url).await.unwrap();
    let mut paused = paused(&client).await;
    paused.answer("a", accept("Ada")).unwrap();
    let error = paused.resume(&client).await.unwrap_err();
    expect!["the question `b` is not answered (MR0512)"].assert_eq(&error.to_string());
    assert_eq!(server.seen("tools/call").len(), 1);

    let error = paused.answer("b", accept("")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Answer);
    let error = paused.answer("c", accept("Carl")).unwrap_err();
    expect!["the server did not ask `c` (MR0512)"].assert_eq(&error.to_string());
}

#[tokio::test]
async fn handlers_can_answer_what_is_left_open() {
    let server = server().await;
    let client = ada(&server.url).connect().await.unwrap();
    let mut paused = paused(&client).await;
    paused.answer("b", accept("Bob")).unwrap();
    let result = paused.finish(&client).await.unwrap();
    assert_eq!(text(&result), "hello");
    let seen = server.seen("tools/call");
    let answers = &seen[1].params()["inputResponses"];
    assert_eq!(answers["a"]["content"]["name"], "Ada");
    assert_eq!(answers["b"]["content"]["name"], "Bob");
}

#[tokio::test]
async fn a_paused_call_goes_to_no_other_server() {
    let (server, other) = tokio::join!(server(), server());
    let client = Client::connect(&server.url).await.unwrap();
    let mut paused = paused(&client).await;
    paused.answer("a", accept("Ada")).unwrap();
    paused.answer("b", accept("Bob")).unwrap();
    let elsewhere = Client::connect(&other.url).await.unwrap();
    let error = paused.resume(&elsewhere).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misuse);
    assert!(other.seen("tools/call").is_empty());

    let moved = paused.dangerous_moved_to(elsewhere.endpoint());
    assert!(moved.resume(&elsewhere).await.is_ok());
}

#[tokio::test]
async fn a_paused_call_shows_no_secrets_and_only_reads_its_own_kind() {
    let server = server().await;
    let client = Client::connect(&server.url).await.unwrap();
    let mut paused = paused(&client).await;
    paused.answer("a", accept("Ada")).unwrap();
    let shown = format!("{paused:?}").replace(&server.url, "URL");
    expect![[r#"PausedCall { server: "URL", name: "greet", rounds: 0, questions: ["a", "b"], state: Some(RequestState(12 bytes)), .. }"#]]
        .assert_eq(&shown);

    let stored = serde_json::to_string(&paused).unwrap();
    let error = serde_json::from_str::<PausedCall<GetPromptResult>>(&stored).unwrap_err();
    expect!["the paused call ends with another kind of result"].assert_eq(&error.to_string());
}

#[tokio::test]
async fn a_resumed_call_has_its_own_cap_its_progress_and_its_log() {
    let (client, mut far) = connected_as(|builder| builder).await;
    let (step, ()) = tokio::join!(client.call("t").start(), async {
        let request = far.read().await;
        assert_eq!(request["params"]["_meta"].get("progressToken"), None);
        let question = json!({"who": name_form("Who?")});
        far.result(&request, asks(question, Value::Null)).await;
    });
    let Step::InputRequired(mut paused) = step.unwrap() else {
        panic!("it asks something");
    };
    paused.answer("who", accept("Ada")).unwrap();
    let error = paused
        .resume(&client)
        .options(CallOptions::new().max_rounds(0))
        .finish()
        .await;
    let error = error.unwrap_err();
    assert_eq!(error.code(), "MR0507");

    let (heard, hears) = std::sync::mpsc::channel();
    let logs = heard.clone();
    let options = CallOptions::new()
        .on_progress(move |progress| heard.send(progress.progress.to_string()).unwrap())
        .on_log(LoggingLevel::Info, move |said| {
            logs.send(said.data.as_str().to_owned()).unwrap();
        });
    let resumed = paused.resume(&client).options(options);
    let (step, ()) = tokio::join!(resumed.into_future(), async {
        let request = far.read().await;
        let meta = &request["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/logLevel"], "info");
        let told = |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
        let progress = json!({"progressToken": meta["progressToken"], "progress": 0.5});
        far.say(told("notifications/progress", progress)).await;
        let said = json!({"level": "info", "data": "almost"});
        far.say(told("notifications/message", said)).await;
        far.result(&request, done("hello")).await;
    });
    assert!(matches!(step.unwrap(), Step::Complete(_)));
    let heard: Vec<_> = hears.try_iter().collect();
    assert_eq!(heard, ["0.5", "\"almost\""]);
}
