//! Replicas, builds and whole servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use sterna_protocol::elicitation::{ElicitRequestFormParams, FormSchema, NumberSchema, NumberType};
use sterna_protocol::input::{InputRequest, InputRequired, RequestState};
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::CallToolResult;
use sterna_server::{Answers, AskError, Call, Cx, Server, TaskMode, Tool, ToolError};
use sterna_testkit::{ExecutionMode, Flow};

async fn old_sync(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let (github, google) = tokio::join!(
        cx.ask::<String>("github", "Your GitHub login?"),
        cx.ask::<String>("google", "Your Google login?"),
    );
    Ok(format!("{} and {}", github?, google?))
}

async fn new_sync(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let (github, microsoft) = tokio::join!(
        cx.ask::<String>("github", "Your GitHub login?"),
        cx.ask::<String>("microsoft", "Your Microsoft login?"),
    );
    Ok(format!("{} and {}", github?, microsoft?))
}

#[tokio::test]
async fn a_new_build_asks_only_for_what_is_missing() {
    let flow = Flow::of(old_sync)
        .upgrade(2, new_sync)
        .answer("github", "ada")
        .answer("google", "ada@gmail")
        .answer("microsoft", "ada@outlook");
    let run = flow.run().await;
    run.asked("microsoft").in_round(2);
    assert_eq!(run.questions(), ["github", "google", "microsoft"]);
    assert_eq!(run.text(), "ada and ada@outlook");
    let checked = flow.check().await;
    assert_eq!((checked.ways, checked.replays), (1, 2));
}

async fn count(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let seen = cx.state::<AtomicU32>().fetch_add(1, Ordering::SeqCst);
    cx.confirm("sure", "Sure?").await?;
    Ok(format!("seen {seen}"))
}

#[tokio::test]
async fn replicas_share_no_memory() {
    let flow = Flow::of(count).state(AtomicU32::default).agree("sure");
    assert_eq!(flow.run().await.text(), "seen 0");
    assert_eq!(flow.clone().replicas(2).run().await.text(), "seen 0");
    assert_eq!(flow.replicas(1).run().await.text(), "seen 1");
}

async fn publish(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let title: String = cx.ask("title", "Which title?").await?;
    Ok(format!("published {title}"))
}

async fn print(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let title: String = cx.ask("title", "Which title?").await?;
    cx.become_task().await;
    let copies: u32 = cx.ask("copies", "How many copies?").await?;
    Ok(format!("{copies} copies of {title}"))
}

#[tokio::test]
async fn a_flow_may_ask_before_it_becomes_a_task() {
    let build = || {
        let print = Tool::new("print", "Prints", print);
        let print = print.task(TaskMode::Optional).task_on_demand();
        Server::new("printer", "1.0.0").offer(print)
    };
    let flow = Flow::on(build, "print")
        .answer("title", "Birds")
        .answer("copies", 3);
    let run = flow.clone().mode(ExecutionMode::Task).run().await;
    assert_eq!(run.text(), "3 copies of Birds");
    assert_eq!(flow.check().await.ways, 3);
}

async fn more(call: Call, answers: Answers) -> Result<Outcome<CallToolResult>, ToolError> {
    let before: u32 = call.state().unwrap_or("0").parse()?;
    let Some(more) = answers.form::<u32>("more").transpose()? else {
        return Ok(Outcome::InputRequired(asking(before)));
    };
    match more {
        0 => Ok(Outcome::Complete(CallToolResult::text(before.to_string()))),
        more => Ok(Outcome::InputRequired(asking(before + more))),
    }
}

fn asking(sum: u32) -> InputRequired {
    let form = FormSchema::new().with_required("more", NumberSchema::new(NumberType::Integer));
    let question = ElicitRequestFormParams::new("How many more?", form);
    let state = RequestState::new(sum.to_string());
    InputRequired::asking("more", InputRequest::elicit(question)).with_state(state)
}

#[tokio::test]
async fn a_low_level_handler_asks_the_same_again_and_again() {
    let build = || Server::new("counter", "1.0.0").offer(Tool::low_level("more", "Counts", more));
    let flow = Flow::on(build, "more")
        .answer("more", 1)
        .answer("more", 2)
        .answer("more", 0);
    assert_eq!(flow.run().await.text(), "3");
    assert_eq!(flow.check().await.ways, 2);
}

fn newsroom() -> Server {
    let publish = Tool::new("publish", "Publishes", publish).task(TaskMode::Always);
    Server::new("newsroom", "1.0.0")
        .offer(publish)
        .state(Arc::new(AtomicU32::new(0)))
}

#[tokio::test]
async fn a_whole_server_is_tested_with_its_settings() {
    let flow = Flow::on(newsroom, "publish").answer("title", "Birds");
    let run = flow.clone().mode(ExecutionMode::Task).run().await;
    assert_eq!(run.text(), "published Birds");
    assert!(flow.clone().mode(ExecutionMode::Task).check().await.crashes > 0);
    let refused = Flow::on(newsroom, "publish").run().await;
    assert!(refused.text().starts_with("-32021 "), "{refused}");
}
