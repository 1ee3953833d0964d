use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use expect_test::expect;
use serde_json::json;
use tempfile::TempDir;

use crate::command::{command, run, sterna};
use crate::terminal::{CTRL_C, ENTER, User};

#[test]
fn the_demo_shows_what_it_claims() {
    let ran = sterna("demo");
    expect![[r#"

        what was shown
          yes  a call goes on when the replica that asked is dead                         asked by B, taken up by C
          yes  a state that was altered is refused                                        Invalid or expired requestState
          yes  a state that is used for another work item is refused                      Invalid or expired requestState
          yes  a new build keeps the answers and asks again only what it words otherwise  asked for details~2
          yes  a finished step never runs again, on any replica                           looked up once, by replica B
          yes  a lost answer is asked for again, and the effect has happened once         done by C, told by A, refunded 1 time
          yes  the same round with other answers is refused                               Invalid or expired requestState
          yes  a token that was used is refused, where a tool says so                     Invalid or expired requestState
          yes  a task survives kill -9 of every process                                   rendered 1 time, published 1 time
        exit 0
    "#]]
    .assert_eq(&format!("{}exit {}\n", ran.stdout, ran.code));
    for round in [
        "round 1",
        "round 2",
        "round 3",
        "round 4",
        "killed replica",
        "upgraded",
        "was lost on the way",
        "kill -9 for all three",
    ] {
        assert!(ran.stderr.contains(round), "{round} is missing: {ran:?}");
    }
}

#[test]
fn the_demo_gives_json() {
    let claims = sterna("--json -q demo --auto").json();
    let claims = claims["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 9);
    assert!(
        claims.iter().all(|claim| claim["holds"] == json!(true)),
        "{claims:?}"
    );
}

#[test]
fn a_person_answers_the_demo() {
    // Enter goes on: every field has a default.
    let answers = |user: User, field: &str| user.sees(&format!("{field}:")).types(ENTER);
    let sends = |user: User| user.sees("Send this?").types(ENTER);
    let user = User::runs(&["demo"]).sees("How was work item 4522 resolved?");
    let user = sends(answers(user, "resolution"));
    let user = sends(answers(user, "details"));
    let user = user.sees("And who has confirmed that?");
    let user = answers(user, "details");
    let user = sends(answers(user, "confirmed_by"));
    let user = sends(answers(user, "amount"));
    let user = sends(answers(user, "name"));
    let user = sends(answers(user, "name"));
    user.sees("what was shown")
        .sees("a task survives kill -9 of every process")
        .sees("see it on a web page: http://127.0.0.1:")
        .sees("Ctrl-C ends it")
        .types(CTRL_C)
        .ends_with(0);
}

#[test]
fn what_the_demo_leaves_running_can_be_tried_as_it_says() {
    let mut serving = command()
        .args(["demo", "--serve"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(serving.stdout.take().unwrap()).lines();
    let lines = lines.map(Result::unwrap);
    let lines: Vec<String> = lines.take_while(|line| line != "Ctrl-C ends it.").collect();
    let commands = lines
        .iter()
        .filter_map(|line| line.strip_prefix("  sterna "));
    // The inspector runs until it is interrupted; its own tests start it.
    let (inspector, commands): (Vec<_>, Vec<_>) =
        commands.partition(|args| args.starts_with("inspect "));
    assert_eq!(inspector.len(), 1, "{lines:#?}");
    let folder = TempDir::new().unwrap();
    let tries = |args: &str| {
        let mut tried = command();
        run(tried.current_dir(folder.path()).args(args.split(' ')), "")
    };
    // No user is there to answer, so the calls are put aside.
    let codes: Vec<i32> = commands.iter().map(|args| tries(args).code).collect();
    assert_eq!(codes, [0, 4, 4, 4, 0], "{lines:#?}");
    let answers = "--answer resolution=Fixed --answer details=1.2";
    let ran = tries(&format!("resume call.json {answers}"));
    assert!(ran.stdout.starts_with("4522 is Fixed (1.2)"), "{ran:?}");

    let id = serving.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(serving.wait().unwrap().code(), Some(0));
}
