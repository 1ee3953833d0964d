//! Calls of servers with sessions that keep their connection while they wait.

use expect_test::expect;
use serde_json::json;
use sterna_client::{CallOptions, Client, HeldReason, PausedCall, Step};
use sterna_protocol::capabilities::{ClientCapabilities, ElicitationCapability};
use sterna_protocol::tool::CallToolResult;

use super::detached::{answer, started};
use super::event_store::{EventStore, Store, ask, done, withdrawn};
use super::lines::in_session;
use super::rounds::text;

async fn server() -> EventStore {
    EventStore::start(Store {
        steps: vec![
            vec![ask(0, "name")],
            vec![ask(1, "colour")],
            vec![done("hello")],
        ],
        ids: false,
        ..Store::default()
    })
    .await
}

/// Waits until the server was told that the call is over.
async fn cancelled(server: &EventStore) {
    while server.cancellations() == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_held_call_is_answered_in_its_process_and_nowhere_else() {
    let server = server().await;
    let client = server.client().await;
    let mut paused = started(&client).await;
    assert_eq!(paused.held(), Some(HeldReason::NoEventId));
    let error = serde_json::to_string(&paused).unwrap_err();
    expect!["this paused call holds a connection and cannot be stored: the server sends no event ids with its questions, so that only this connection can receive the result; an event store at the server changes that"]
        .assert_eq(&error.to_string());
    answer(&mut paused);
    let clone = paused.clone();
    let step = paused.resume(&client).await.unwrap();
    let Step::InputRequired(mut next) = step else {
        panic!("{step:?}");
    };
    let error = clone.resume(&client).await.unwrap_err();
    expect!["the connection of this paused call was used by an earlier `resume` (MR0512)"]
        .assert_eq(&error.to_string());
    answer(&mut next);
    let step = next.resume(&client).await.unwrap();
    assert!(matches!(step, Step::Complete(result) if text(&result) == "hello"));
    assert_eq!(server.answers().len(), 2);
    assert_eq!(server.seen("POST", Some("tools/call")).len(), 1);
    drop((paused, clone, next));
    // A cancellation would have been sent before this.
    client.prompt("another").await.unwrap();
    assert_eq!(server.cancellations(), 0);
}

#[tokio::test]
async fn the_last_drop_of_a_held_call_cancels_it() {
    let server = server().await;
    let client = server.client().await;
    let paused = started(&client).await;
    let clone = paused.clone();
    drop(paused);
    assert!(clone.open().next().is_some());
    assert_eq!(server.cancellations(), 0);
    drop(clone);
    cancelled(&server).await;
    let call = server.seen("POST", Some("tools/call")).pop().unwrap();
    let notice = server.seen("POST", Some("notifications/cancelled")).pop();
    assert_eq!(notice.unwrap().body["params"]["requestId"], call.body["id"]);
}

#[tokio::test]
async fn a_caller_can_have_the_connection_held() {
    let server = EventStore::start(Store::default()).await;
    let client = server.client().await;
    let call = client.call("greet").options(CallOptions::new().hold());
    let Step::InputRequired(mut paused) = call.start().await.unwrap() else {
        panic!("it asks");
    };
    assert_eq!(paused.held(), Some(HeldReason::Requested));
    answer(&mut paused);
    let step = paused.resume(&client).await.unwrap();
    assert!(matches!(step, Step::Complete(_)));
    let streams = server.seen("GET", None).into_iter();
    assert_eq!(streams.filter(|seen| seen.event.is_some()).count(), 0);
}

#[tokio::test]
async fn a_held_question_that_was_given_up_is_not_answered() {
    let server = server().await;
    let client = server.client().await;
    let mut paused = started(&client).await;
    answer(&mut paused);
    server.push(&[withdrawn(0), done("without you")]);
    let step = paused.resume(&client).await.unwrap();
    assert!(matches!(step, Step::Complete(result) if text(&result) == "without you"));
    assert!(server.answers().is_empty());
}

#[tokio::test]
async fn handlers_answer_in_the_middle_of_a_call_where_the_caller_says_so() {
    let server = server().await;
    let client = super::real::prepared(super::event_store::builder(&server.url));
    let client = client.connect().await.unwrap();
    let options = CallOptions::new().handle_session_questions();
    let step = client.call("greet").options(options).start().await.unwrap();
    assert!(matches!(step, Step::Complete(result) if text(&result) == "hello"));
}

fn forms() -> ClientCapabilities {
    let mut declared = ClientCapabilities::default();
    declared.elicitation = Some(ElicitationCapability::form());
    declared
}

/// A client on a pipe to a server with sessions.
async fn piped() -> (Client, super::lines::Far) {
    let tools = json!({"tools": {}});
    in_session(tools, |builder| builder.session_capabilities(forms())).await
}

#[tokio::test]
async fn a_call_on_a_pipe_is_held_and_its_questions_are_its_own() {
    let (client, mut far) = piped().await;
    let (step, call) = tokio::join!(client.call("t").start(), async {
        let call = far.read().await;
        far.say(ask(7, "name")).await;
        call
    });
    let Step::InputRequired(mut paused) = step.unwrap() else {
        panic!("it asks");
    };
    assert_eq!(paused.held(), Some(HeldReason::Pipe));
    answer(&mut paused);
    let (step, ()) = tokio::join!(paused.resume(&client).into_future(), async {
        let answered = far.read().await;
        assert_eq!(
            (&answered["id"], &answered["result"]["action"]),
            (&json!(7), &json!("accept"))
        );
        far.result(&call, json!({"content": [{"type": "text", "text": "hi"}]}))
            .await;
    });
    assert!(matches!(step.unwrap(), Step::Complete(result) if text(&result) == "hi"));

    let (step, call) = tokio::join!(client.call("t").start(), async {
        let call = far.read().await;
        far.say(ask(8, "name")).await;
        call
    });
    drop(step);
    let notice = far.read().await;
    assert_eq!(notice["method"], "notifications/cancelled");
    assert_eq!(notice["params"]["requestId"], call["id"]);
}

#[tokio::test]
async fn with_two_calls_on_a_pipe_a_question_is_refused_not_guessed() {
    let (client, mut far) = piped().await;
    let asking = async {
        let (first, second) = (far.read().await, far.read().await);
        far.say(ask(7, "name")).await;
        let refusal = far.read().await;
        assert_eq!(
            (&refusal["id"], &refusal["error"]["code"]),
            (&json!(7), &json!(-32601))
        );
        for call in [first, second] {
            far.result(&call, json!({"content": []})).await;
        }
    };
    let (one, two, ()) = tokio::join!(client.call("a").start(), client.call("b").start(), asking);
    for step in [one, two] {
        assert!(matches!(step.unwrap(), Step::Complete(_)));
    }
}

#[tokio::test]
async fn a_question_on_the_stream_of_the_session_holds_the_only_call() {
    let server = EventStore::start(Store {
        steps: vec![vec![], vec![done("hello")]],
        ..Store::default()
    })
    .await;
    server.ask_outside(vec![ask(4, "name")]);
    let client = server.client().await;
    let mut paused: PausedCall<CallToolResult> = started(&client).await;
    assert_eq!(paused.held(), Some(HeldReason::OutsideCall));
    answer(&mut paused);
    let step = paused.resume(&client).await.unwrap();
    assert!(matches!(step, Step::Complete(result) if text(&result) == "hello"));
}
