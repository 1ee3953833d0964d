//! Requests that become operations.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{Ran, command, run};
use crate::operations_api::Work;
use crate::running::Running;
use crate::terminal::{CTRL_C, DOWN, ENTER, User};

fn working(done: u32) -> Value {
    let progress = json!({"done": done, "total": 10, "message": "loading"});
    json!({"status": "working", "progress": progress})
}

fn asking() -> Value {
    let question = json!({"message": "Which?", "schema": {"type": "string"}});
    json!({"status": "input_required", "questions": {"review": question}})
}

fn ended(status: u16) -> Value {
    let headers = json!({"content-type": "application/json"});
    let result = json!({"status": status, "headers": headers, "body": {"loaded": 10}});
    let word = if status < 400 { "completed" } else { "failed" };
    json!({"status": word, "result": result})
}

#[track_caller]
fn call(url: &str, flags: &[&str]) -> Ran {
    run(
        command().args(["call-http", "POST", url, "{}"]).args(flags),
        "",
    )
}

#[test]
fn an_operation_is_followed_to_its_result() {
    let (url, work) = Work::start(&[working(1), working(5), ended(200)]);
    let ran = call(&url, &["--async"]);
    assert_eq!(
        ran.shown(),
        "{\"loaded\":10}\nit goes on as the operation /operations/7\nexit 0\n"
    );
    let seen = work.seen();
    assert_eq!(seen[0], "begin respond-async");
    // The tag of the last look goes with the next.
    assert_eq!(seen[1], "look \"0\" false");
}

#[test]
fn the_response_of_the_handler_decides_the_exit_code() {
    let (url, _) = Work::start(&[working(1), ended(409)]);
    let ran = call(&url, &["--json"]);
    let expected = json!({"status": 409, "body": {"loaded": 10}});
    assert_eq!((ran.code, ran.json()), (3, expected));
}

#[test]
fn questions_of_an_operation_are_answered() {
    let (url, work) = Work::start(&[working(1), asking(), working(5), ended(200)]);
    let ran = call(&url, &["--answer", "review=this"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer = r#"answer {"answers":{"review":"this"}}"#;
    assert!(
        work.seen().iter().any(|seen| seen == answer),
        "{:?}",
        work.seen()
    );
}

#[test]
fn an_answer_that_is_refused_is_missing_the_next_time() {
    let (url, _) = Work::start(&[asking(), ended(200)]);
    let ran = call(&url, &["--answer", "review=odd"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    let said = "warning: the answer to `review` was not accepted: it is ]odd";
    assert!(ran.stderr.contains(said), "{ran:?}");
}

#[test]
fn an_operation_that_waits_is_saved_and_followed_by_another_process() {
    let (url, work) = Work::start(&[working(1), asking(), ended(200)]);
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("call.json");
    let path = file.to_str().unwrap();
    let ran = call(&url, &["--save", path]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(
        ran.stdout.starts_with("input required: review\n"),
        "{ran:?}"
    );
    let mut resume = command();
    let ran = run(resume.args(["resume", path, "--answer", "review=this"]), "");
    assert_eq!(ran.shown(), "{\"loaded\":10}\nexit 0\n");
    assert_eq!(
        work.seen()
            .iter()
            .filter(|seen| seen.starts_with("begin"))
            .count(),
        1
    );
}

#[test]
fn an_operation_at_another_server_is_not_followed() {
    let (url, work) = Work::start(&[working(1), ended(200)]);
    work.at("http://localhost:1/operations/7");
    let mut call = command();
    call.args(["call-http", "POST", &url, "{}"]);
    let ran = run(call.env("STERNA_BEARER", "ada"), "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("is another server"), "{ran:?}");
}

#[test]
fn a_token_goes_to_the_operation_too() {
    let (url, work) = Work::start(&[working(1), ended(200)]);
    let mut call = command();
    call.args(["call-http", "POST", &url, "{}"]);
    assert_eq!(run(call.env("STERNA_BEARER", "ada"), "").code, 0);
    assert_eq!(work.seen()[1], "look \"0\" true");
}

#[test]
fn a_cancelled_operation_is_5() {
    let (url, _) = Work::start(&[working(1), json!({"status": "cancelled"})]);
    let ran = call(&url, &[]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(
        ran.stderr.contains("the operation was cancelled"),
        "{ran:?}"
    );
}

#[test]
fn an_interrupt_without_a_terminal_leaves_the_operation() {
    let (url, work) = Work::start(&[working(1)]);
    let call = ["call-http", "POST", &url, "{}"];
    let (code, words) = Running::until(&call, "it goes on as").interrupt();
    assert_eq!(code, Some(5), "{words}");
    assert!(
        words.contains("interrupted; the operation goes on"),
        "{words}"
    );
    assert!(!work.seen().contains(&"cancel".to_owned()));
}

#[test]
fn an_interrupt_on_a_terminal_offers_to_cancel() {
    let (url, work) = Work::start(&[working(1)]);
    User::runs(&["call-http", "POST", &url, "{}"])
        .sees("loading")
        .types(CTRL_C)
        .sees("The operation goes on at the server.")
        .types(DOWN)
        .types(ENTER)
        .sees("the operation was cancelled")
        .ends_with(5);
    assert!(work.seen().contains(&"cancel".to_owned()));
}

#[test]
fn questions_of_an_operation_are_answered_on_the_terminal() {
    let (url, _) = Work::start(&[working(1), asking(), ended(200)]);
    User::runs(&["call-http", "POST", &url, "{}"])
        .sees("review:")
        .types("this")
        .types(ENTER)
        .sees("Send this?")
        .types(ENTER)
        .sees("{\"loaded\":10}")
        .ends_with(0);
}
