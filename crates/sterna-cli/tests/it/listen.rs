use std::io::Read as _;
use std::process::Child;

use serde_json::{Value, json};

use crate::calls::at;
use crate::running::Running;
use crate::server;

/// Starts listening, and waits until the server has agreed.
#[track_caller]
fn listening(args: &[&str]) -> Child {
    Running::until(args, "listening: ").child
}

#[test]
fn a_server_that_tells_of_nothing_is_not_waited_for() {
    for era in ["modern", "legacy"] {
        let ran = at(&server::start(), &["listen", "URL", "--era", era]);
        assert_eq!(ran.code, 1, "{era}: {ran:?}");
        for part in ["list of tools", "tells of no changes", "listChanged"] {
            assert!(ran.stderr.contains(part), "{era}: {part} is not in {ran:?}");
        }
    }
}

#[test]
fn a_listener_says_what_it_waits_for() {
    let url = server::start_with_tasks();
    let listener = Running::until(
        &["listen", &url],
        "listening: list of tools, list of prompts, list of resources; nothing has come yet",
    );
    assert_eq!(listener.interrupt().0, Some(0));
}

fn heard(mut child: Child) -> (Option<i32>, String) {
    let mut text = String::new();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_to_string(&mut text).unwrap();
    (child.wait().unwrap().code(), text)
}

#[test]
fn a_change_of_the_tools_is_shown() {
    let url = server::start_with_tasks();
    let child = listening(&["listen", &url, "--count", "1"]);
    at(&url, &["call", "URL", "touch"]);
    assert_eq!(heard(child), (Some(0), "tools\n".to_owned()));
}

#[test]
fn the_changes_of_a_task_are_a_line_of_json_each() {
    let url = server::start_with_tasks();
    let call = ["--json", "call", "URL", "publish", "title=Terns"];
    let handle = at(&url, &call).json();
    let id = handle["task"]["taskId"].as_str().unwrap();
    let child = listening(&["--json", "listen", &url, "--task", id, "--count", "1"]);
    at(&url, &["task", "cancel", "URL", id]);
    let (code, text) = heard(child);
    let change: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(code, Some(0));
    assert_eq!(change["changed"], json!("task"));
    assert_eq!(change["task"]["taskId"], json!(id));
}
