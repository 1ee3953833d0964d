use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use sterna_server::{Around, Cx, Refused, RequestError, RoundEnd, RoundSeen, Server};

use crate::mcp::{Client, accept};

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, Refused> {
    let name: String = cx.ask("name", "Name?").await?;
    Ok(format!("Hello, {name}!"))
}

async fn hangs(_: Cx<'_>, (): ()) -> &'static str {
    tokio::sync::Notify::new().notified().await;
    "never"
}

/// Writes down what it sees, and lets nobody call `forbidden`.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn take(&self) -> String {
        self.0.lock().unwrap().drain(..).collect()
    }

    fn note(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }
}

impl Around for Notes {
    fn before(&self, round: &RoundSeen<'_>) -> Result<(), RequestError> {
        let caller = round.request().caller().principal().subject();
        self.note(format!(
            "{} {} by {caller:?}, round {}\n",
            round.method(),
            round.target(),
            round.round(),
        ));
        match round.target() {
            "forbidden" => Err(RequestError::invalid_params("Not today")),
            _ => Ok(()),
        }
    }

    fn after(&self, _: &RoundSeen<'_>, ended: RoundEnd, _: Duration) {
        self.note(format!("{ended:?}\n"));
    }
}

fn client(notes: &Notes) -> Client {
    let server = Server::new("around", "1")
        .around(notes.clone())
        .tool("greet", "Greets", greet)
        .tool("hangs", "Never ends", hangs)
        .tool("forbidden", "Greets", greet);
    Client::of(server)
}

#[tokio::test]
async fn a_hook_sees_every_round_and_how_it_ends() {
    let notes = Notes::default();
    let answers = [json!({"name": accept(json!({"name": "Ada"}))})];
    client(&notes).play("greet", json!({}), &answers).await;
    expect![[r#"
        tools/call greet by None, round 0
        Asked
        tools/call greet by None, round 1
        Finished
    "#]]
    .assert_eq(&notes.take());
}

#[tokio::test]
async fn a_hook_may_refuse_a_round_before_its_handler_runs() {
    let notes = Notes::default();
    let params = json!({"name": "forbidden", "arguments": {}});
    let reply = client(&notes).send("tools/call", params).await;
    assert_eq!(reply.error(), r#"200 -32602 "Not today""#);
    expect![[r#"
        tools/call forbidden by None, round 0
        Failed
    "#]]
    .assert_eq(&notes.take());
}

#[tokio::test]
async fn a_hook_hears_of_a_client_that_went_away() {
    let notes = Notes::default();
    let client = client(&notes);
    let params = json!({"name": "hangs", "arguments": {}});
    let call = client.send("tools/call", params);
    tokio::select! {
        biased;
        _ = call => unreachable!("it hangs"),
        () = tokio::task::yield_now() => {}
    }
    expect![[r#"
        tools/call hangs by None, round 0
        Cancelled
    "#]]
    .assert_eq(&notes.take());
}
