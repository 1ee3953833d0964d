//! Middleware: what it sees, refuses and changes, in every way a handler runs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use sterna_protocol::elicitation::ElicitRequestParams;
use sterna_protocol::input::{InputRequest, InputRequired};
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::CallToolResult;
use sterna_server::{
    Answers, AskError, Call, Cx, Middleware, RequestError, RoundEnd, RoundInfo, RoundResult,
    Server, TaskMode, Tool, ToolError,
};

use super::tasks::{Fleet, said};
use super::{Client, accept, show};
use crate::legacy::Session;

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let name: String = cx.ask("name", "Name?").await?;
    Ok(format!("Hello, {name}!"))
}

async fn hangs(_: Cx<'_>, (): ()) -> &'static str {
    tokio::sync::Notify::new().notified().await;
    "never"
}

async fn fails(_: Cx<'_>, (): ()) -> Result<String, ToolError> {
    Err(ToolError::new("disk /dev/sda1 is full"))
}

/// Asks like `greet`, and returns its question itself.
async fn low_level(_: Call, answers: Answers) -> Result<Outcome<CallToolResult>, AskError> {
    let Some(name) = answers.form::<String>("name") else {
        let form = sterna_server::form_schema::<String>("name").unwrap();
        let asked = sterna_protocol::elicitation::ElicitRequestFormParams::new("Name?", form);
        let required = InputRequired::asking("name", InputRequest::elicit(asked));
        return Ok(Outcome::InputRequired(required));
    };
    let text = format!("Hello, {}!", name?);
    Ok(Outcome::Complete(CallToolResult::text(text)))
}

/// Writes down what it sees, and refuses the tool `forbidden`.
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

impl Middleware for Notes {
    fn before(&self, round: &RoundInfo<'_>) -> Result<(), RequestError> {
        let caller = round.caller().principal().subject();
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

    fn after(&self, _: &RoundInfo<'_>, ended: RoundEnd, _: Duration) {
        self.note(format!("{ended:?}\n"));
    }
}

/// Adds its mark to every question and every result.
struct Mark(&'static str, Notes);

impl Middleware for Mark {
    fn before(&self, _: &RoundInfo<'_>) -> Result<(), RequestError> {
        self.1.note(format!("before {}, ", self.0));
        Ok(())
    }

    fn question(
        &self,
        _: &RoundInfo<'_>,
        key: &str,
        question: &mut InputRequest,
    ) -> Result<(), RequestError> {
        self.1.note(format!("question {}, ", self.0));
        if let InputRequest::Elicit(request) = question
            && let ElicitRequestParams::Form(form) = &mut request.params
        {
            form.message = format!("{} [{} {key}]", form.message, self.0);
        }
        Ok(())
    }

    fn result(&self, _: &RoundInfo<'_>, result: RoundResult<'_>) -> Result<(), RequestError> {
        self.1.note(format!("result {}, ", self.0));
        match result {
            RoundResult::Tool(result) => {
                let text = format!("{} [{}]", result.to_text(), self.0);
                *result = CallToolResult::text(text);
            }
            RoundResult::ToolError(text) => *text = format!("It failed [{}]", self.0),
            _ => {}
        }
        Ok(())
    }

    fn after(&self, _: &RoundInfo<'_>, _: RoundEnd, _: Duration) {
        self.1.note(format!("after {}, ", self.0));
    }
}

fn client(notes: &Notes) -> Client {
    let server = Server::new("middleware", "1")
        .middleware(notes.clone())
        .tool("greet", "Greets", greet)
        .tool("hangs", "Never ends", hangs)
        .tool("forbidden", "Greets", greet);
    Client::of(server)
}

fn marked(notes: &Notes) -> Server {
    Server::new("marked", "1")
        .middleware(Mark("outer", notes.clone()))
        .middleware(Mark("inner", notes.clone()))
        .tool("greet", "Greets", greet)
        .tool("fails", "Fails", fails)
        .offer(Tool::low_level("low_level", "Greets", low_level))
}

#[tokio::test]
async fn every_round_is_seen_with_its_end() {
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
async fn a_round_is_refused_before_its_handler_runs() {
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
async fn a_client_that_went_away_is_reported_as_cancelled() {
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

fn ada() -> serde_json::Value {
    accept(json!({"name": "Ada"}))
}

const MARKED: &str = "Hello, Ada! [inner] [outer]";

#[tokio::test]
async fn the_first_registered_is_the_outermost_and_changes_what_goes_out_last() {
    let notes = Notes::default();
    let client = Client::of(marked(&notes));
    for tool in ["greet", "low_level"] {
        let shown = client
            .play(tool, json!({}), &[json!({"name": ada()})])
            .await;
        let expected = format!("ask {{name: Name? [inner name] [outer name]}} -> {MARKED}");
        // The answer counts: it belongs to the question that the handler asked.
        assert_eq!(shown, expected, "{tool}");
        expect!["before outer, before inner, question inner, question outer, after inner, after outer, before outer, before inner, result inner, result outer, after inner, after outer, "]
            .assert_eq(&notes.take());
    }
}

#[tokio::test]
async fn the_error_of_a_tool_can_be_reworded() {
    let client = Client::of(marked(&Notes::default()));
    let failed = client.call_tool("fails", json!({})).await;
    assert_eq!(show(&failed), "error: It failed [outer]");
}

#[tokio::test]
async fn a_session_is_served_by_the_same_middleware() {
    let session = Session::of(marked(&Notes::default())).await;
    for tool in ["greet", "low_level"] {
        let params = json!({"name": tool, "arguments": {}});
        let shown = session.play("tools/call", params, &[ada()]).await;
        let asked = "elicitation/create: Name? [inner name] [outer name]";
        assert_eq!(shown, format!("{asked} -> {MARKED}"), "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_is_served_by_the_same_middleware() {
    let (mut fleet, notes) = (Fleet::new(), Notes::default());
    let tool = Tool::new("task", "Greets", greet).task(TaskMode::Always);
    let client = fleet.instance(marked(&notes).offer(tool));
    let task = client.begin("task", json!({})).await;
    let waiting = client.until(&task, &["input_required"]).await;
    let asked = &waiting["inputRequests"]["name"]["params"]["message"];
    assert_eq!(asked, "Name? [inner name] [outer name]");
    client.update(&task, json!({"name": ada()})).await;
    assert_eq!(said(&client.ended(&task).await), MARKED);
    let seen = notes.take();
    assert!(
        seen.starts_with("before outer, before inner, question inner"),
        "{seen}"
    );
    assert!(
        seen.ends_with("result inner, result outer, after inner, after outer, "),
        "{seen}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_refused_has_failed() {
    let mut fleet = Fleet::new();
    let tool = Tool::new("forbidden", "Greets", greet).task(TaskMode::Always);
    let server = Server::new("refused", "1").middleware(Notes::default());
    let client = fleet.instance(server.offer(tool));
    let task = client.begin("forbidden", json!({})).await;
    let ended = client.ended(&task).await;
    assert_eq!(ended["status"], "failed");
    assert_eq!(ended["error"]["message"], "Not today");
}

/// Lets each session ask one question, and counts those of clients without one.
#[derive(Clone, Default)]
struct OneQuestion(Notes);

impl Middleware for OneQuestion {
    fn question(
        &self,
        round: &RoundInfo<'_>,
        _: &str,
        _: &mut InputRequest,
    ) -> Result<(), RequestError> {
        let name = round.session().unwrap_or_else(|| "no session".to_owned());
        let mut seen = self.0.0.lock().unwrap();
        if seen.contains(&name) {
            return Err(RequestError::invalid_params("One question is enough"));
        }
        seen.push(name);
        Ok(())
    }
}

#[tokio::test]
async fn a_question_is_replaced_by_an_error_and_limited_by_session() {
    let limit = OneQuestion::default();
    let server = || {
        Server::new("limited", "1")
            .middleware(limit.clone())
            .tool("greet", "", greet)
    };
    let params = || json!({"name": "greet", "arguments": {}});
    let none = Session::none(server());
    let open = || none.open("2025-11-25", json!({"elicitation": {"form": {}}}));
    let (one, other) = (open().await, open().await);
    for session in [&one, &other] {
        let shown = session.play("tools/call", params(), &[ada()]).await;
        assert_eq!(shown, "elicitation/create: Name? -> Hello, Ada!");
    }
    let refused = one.play("tools/call", params(), &[]).await;
    assert_eq!(refused, r#"-32602 "One question is enough""#);
    // A header alone makes no session of a request of 2026-07-28.
    let client = Client::of(server());
    let asked = client.call_tool("greet", json!({})).await;
    assert_eq!(show(&asked), "ask {name: Name?}");
    let reply = client.send("tools/call", params()).await;
    assert_eq!(reply.error(), r#"200 -32602 "One question is enough""#);
    let seen = limit.0.0.lock().unwrap();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[2], "no session");
}

/// Panics in the method that its target names.
struct Panics;

impl Middleware for Panics {
    fn before(&self, round: &RoundInfo<'_>) -> Result<(), RequestError> {
        assert_ne!(round.target(), "before");
        Ok(())
    }

    fn question(
        &self,
        round: &RoundInfo<'_>,
        _: &str,
        _: &mut InputRequest,
    ) -> Result<(), RequestError> {
        assert_ne!(round.target(), "question");
        Ok(())
    }

    fn result(&self, round: &RoundInfo<'_>, _: RoundResult<'_>) -> Result<(), RequestError> {
        assert_ne!(round.target(), "result");
        Ok(())
    }

    fn after(&self, round: &RoundInfo<'_>, _: RoundEnd, _: Duration) {
        assert_ne!(round.target(), "after");
    }
}

#[tokio::test]
async fn a_panic_of_a_middleware_fails_its_round_alone() {
    async fn plain(_: Cx<'_>) -> &'static str {
        "done"
    }
    let server = Server::new("panics", "1")
        .middleware(Panics)
        .tool("before", "", plain)
        .tool("question", "", greet)
        .tool("result", "", plain)
        .tool("after", "", plain)
        .tool("well", "", plain);
    let client = Client::of(server);
    for tool in ["before", "question", "result"] {
        let params = json!({"name": tool, "arguments": {}});
        let reply = client.send("tools/call", params).await;
        assert!(
            reply.error().contains("-32603"),
            "{tool}: {}",
            reply.error()
        );
    }
    for tool in ["after", "well"] {
        assert_eq!(show(&client.call_tool(tool, json!({})).await), "done");
    }
}
