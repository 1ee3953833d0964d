//! Ctrl-C, in each state the command can be in.

use std::io::Read as _;

use serde_json::json;
use tempfile::TempDir;

use crate::calls::at;
use crate::running::Running;
use crate::server;
use crate::terminal::{CTRL_C, ENTER, User};

#[test]
fn while_calling_it_cancels_the_call() {
    let url = server::start();
    for era in ["modern", "legacy"] {
        let call = ["-v", "call", &url, "sleep", "--era", era];
        let (code, words) = Running::until(&call, "--> tools/call").interrupt();
        assert_eq!(code, Some(5), "{words}");
        assert!(words.ends_with("error: interrupted; the call was cancelled\n"));
    }
}

#[test]
fn while_calling_it_gives_json_that_says_so() {
    let url = server::start();
    let call = ["--json", "-v", "call", &url, "sleep"];
    let mut running = Running::until(&call, "--> tools/call");
    let mut stdout = running.child.stdout.take().unwrap();
    assert_eq!(running.interrupt().0, Some(5));
    let mut text = String::new();
    stdout.read_to_string(&mut text).unwrap();
    let said: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(said["error"]["exit"], json!(5));
}

#[test]
fn while_asking_it_stops_the_call_and_gives_the_terminal_back() {
    User::runs(&["call", &server::start(), "survey"])
        .sees("name:")
        .hears_a_signal()
        .sees("you stopped the call; nothing more was sent")
        .has_its_terminal_back()
        .ends_with(5);
}

#[test]
fn while_asking_in_the_middle_of_a_call_it_stops_the_call_too() {
    User::runs(&["call", &server::start(), "survey", "--era", "legacy"])
        .sees("name:")
        .types(CTRL_C)
        .sees("you stopped the call")
        .ends_with(5);
}

#[test]
fn in_a_later_round_it_keeps_what_was_answered() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("call.json");
    let url = server::start_workshop();
    let path = file.to_str().unwrap();
    User::runs(&["call", &url, "render", "--save", path])
        .sees("size:")
        .types("large")
        .types(ENTER)
        .sees("Send this?")
        .types(ENTER)
        .sees("1/4 drawing")
        .types(CTRL_C)
        .sees("interrupted; the call was cancelled")
        .ends_with(5);
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.contains("large"), "{kept}");
}

#[test]
fn while_following_a_task_it_leaves_the_task_alone() {
    let url = server::start_with_tasks();
    let following = Running::until(&["call", &url, "stall"], "it goes on as a task");
    let (code, words) = following.interrupt();
    assert_eq!(code, Some(5), "{words}");
    assert!(words.starts_with("error: interrupted; the task goes on\n"));
    let id = words.trim().rsplit(' ').next().unwrap();
    let task = at(&url, &["--json", "task", "get", "URL", id]).json();
    assert_eq!(task["status"], json!("working"));
}

#[test]
fn while_listening_it_is_how_listening_ends() {
    let url = server::start_with_tasks();
    let listening = Running::until(&["listen", &url], "listening: ");
    assert_eq!(listening.interrupt(), (Some(0), String::new()));
}
