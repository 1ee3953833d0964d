use expect_test::expect;
use serde_json::json;

use crate::calls::at;
use crate::server;
use crate::terminal::{ENTER, User};

#[test]
fn a_call_that_becomes_a_task_is_followed_to_its_end() {
    let call = ["call", "URL", "publish", "title=Terns", "-q"];
    let answers = ["--answer", "approval=Ada", "--answer", "date=today"];
    let ran = at(&server::start_with_tasks(), &[&call[..], &answers].concat());
    assert_eq!(ran.shown(), "Terns approved by Ada for today\nexit 0\n");
}

#[test]
fn an_error_in_a_task_is_an_error_of_the_tool() {
    let ran = at(&server::start_with_tasks(), &["call", "URL", "break", "-q"]);
    assert_eq!(
        ran.shown(),
        "the tool returned an error\nthe disk is full\nexit 3\n"
    );
}

#[test]
fn a_task_without_an_answer_waits_at_the_server() {
    let url = server::start_with_tasks();
    let ran = at(&url, &["--json", "call", "URL", "publish", "title=Terns"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    let json = ran.json();
    assert_eq!(
        json["inputRequired"]["approval"]["params"]["message"],
        "Who approves Terns?"
    );
    assert_eq!(json["task"]["server"], json!(url));
    let id = json["task"]["taskId"].as_str().unwrap();
    let hint = format!("sterna task follow {url} {id} --answer KEY.FIELD=VALUE");
    assert!(ran.stderr.contains(&hint), "{ran:?}");

    let some = ["task", "follow", "URL", id, "--answer", "approval=Ada"];
    let ran = at(&url, &some);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (4, "input required: date\n")
    );
    let rest = ["task", "follow", "URL", id, "--answer", "date=today"];
    let ran = at(&url, &rest);
    assert_eq!(ran.shown(), "Terns approved by Ada for today\nexit 0\n");
}

#[test]
fn a_task_can_be_left_looked_at_answered_and_cancelled() {
    let url = server::start_with_tasks();
    let call = ["call", "URL", "publish", "title=Terns", "--detach"];
    let ran = at(&url, &call);
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = ran.stdout.trim().to_owned();
    // Only `task` waits for nothing: the question comes when a worker is free.
    let asked = ["task", "follow", "URL", &id, "-q"];
    assert_eq!(at(&url, &asked).stdout, "input required: approval\n");
    let show = |args: &[&str]| at(&url, args).shown().replace(&id, "ID");
    expect![[r#"
        ID
          status    input_required
          says      The task waits for an answer
          created   1970-01-01T00:00:00.000Z
          changed   1970-01-01T00:00:00.000Z
          asks      approval: Who approves Terns?
        exit 0
    "#]]
    .assert_eq(&show(&["task", "get", "URL", &id]));
    let answer = ["task", "answer", "URL", &id, "--answer", "approval=Ada"];
    let ran = at(&url, &answer);
    assert_eq!(ran.code, 0, "{ran:?}");
    expect![[r#"
        ID
          status    cancelled
          says      The task was cancelled
          created   1970-01-01T00:00:00.000Z
          changed   1970-01-01T00:00:00.000Z
        exit 0
    "#]]
    .assert_eq(&show(&["task", "cancel", "URL", &id]));
    expect![[r#"
        error: the task was cancelled
        exit 5
    "#]]
    .assert_eq(&show(&["task", "follow", "URL", &id]));
}

#[test]
fn every_view_of_a_task_gives_json() {
    let url = server::start_with_tasks();
    let call = [
        "--json",
        "call",
        "URL",
        "publish",
        "title=Terns",
        "--detach",
    ];
    let handle = at(&url, &call).json();
    let id = handle["taskId"].as_str().unwrap();
    for verb in ["get", "cancel"] {
        let task = at(&url, &["--json", "task", verb, "URL", id]).json();
        assert_eq!(task["taskId"], json!(id), "{verb}: {task}");
    }
    let ran = at(&url, &["--json", "task", "follow", "URL", id]);
    assert_eq!((ran.code, &ran.json()["error"]["exit"]), (5, &json!(5)));
    let ran = at(&url, &["--json", "task", "get", "URL", "nothing"]);
    assert_eq!((ran.code, &ran.json()["error"]["exit"]), (1, &json!(1)));
}

#[test]
fn a_task_of_a_session_asks_the_user_who_follows_it() {
    let url = server::start_with_tasks();
    let at = |args: &[&str]| at(&url, &[args, &["--era", "legacy"]].concat());
    let ran = at(&["call", "URL", "publish", "title=Terns", "--detach", "-q"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = ran.stdout.trim();

    // It waits while there is no answer, and having asked does it no harm.
    let ran = at(&["--json", "task", "follow", "URL", id, "-q"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    let said = ran.json();
    let asked = &said["inputRequired"]["approval"]["params"]["message"];
    assert_eq!(asked, "Who approves Terns?");
    assert_eq!(said["task"]["taskId"], json!(id));

    let some = ["task", "follow", "URL", id, "--answer", "approval=Ada"];
    let ran = at(&some);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (4, "input required: date\n")
    );
    let rest = ["task", "follow", "URL", id, "--answer", "date=today"];
    assert_eq!(
        at(&rest).shown(),
        "Terns approved by Ada for today\nexit 0\n"
    );
}

#[test]
fn a_task_of_a_session_is_answered_and_left() {
    let url = server::start_with_tasks();
    let at = |args: &[&str]| at(&url, &[args, &["--era", "legacy"]].concat());
    let ran = at(&["call", "URL", "publish", "title=Terns", "--detach", "-q"]);
    let id = ran.stdout.trim();
    assert_eq!(at(&["task", "follow", "URL", id]).code, 4);
    let ran = at(&["task", "answer", "URL", id]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (4, "input required: approval\n")
    );
    let ran = at(&["task", "answer", "URL", id, "--answer", "approval=Ada"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with(id), "{ran:?}");
    let decline = ["task", "follow", "URL", id, "--decline", "date"];
    assert_eq!(at(&decline).code, 5);
}

#[test]
fn a_tool_that_is_a_task_only_is_called_in_a_session_too() {
    let call = ["call", "URL", "publish", "title=Terns", "-q"];
    let answers = ["--answer", "approval=Ada", "--answer", "date=today"];
    let legacy = ["--era", "legacy"];
    let args = [&call[..], &answers, &legacy].concat();
    let ran = at(&server::start_with_tasks(), &args);
    assert_eq!(ran.shown(), "Terns approved by Ada for today\nexit 0\n");
}

#[test]
fn a_person_is_asked_for_a_task_of_a_session() {
    let url = server::start_with_tasks();
    User::runs(&["call", &url, "publish", "title=Terns", "--era", "legacy"])
        .sees("Who approves Terns?")
        .sees("approval:")
        .types("Ada")
        .types(ENTER)
        .sees("Send this?")
        .types(ENTER)
        .sees("When?")
        .sees("date:")
        .types("today")
        .types(ENTER)
        .sees("Send this?")
        .types(ENTER)
        .sees("Terns approved by Ada for today")
        .ends_with(0);
}
