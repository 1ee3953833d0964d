//! Servers that run as child processes.

use std::path::Path;
use std::sync::{Arc, Mutex};

use sterna_client::{Client, Command, ErrorKind};

use super::rounds::text;

/// A server in shell: says its process id, answers the probe, does `on_call`
/// when a tool is called, and leaves at the end of its input.
pub(super) fn shell(on_call: &str) -> Command {
    staying(on_call, "exit")
}

/// The same, but does `at_end` at the end of its input.
fn staying(on_call: &str, at_end: &str) -> Command {
    let script = format!(
        r#"
        echo "pid $$" >&2
        id() {{ printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/'; }}
        say() {{ echo "{{\"jsonrpc\":\"2.0\",\"id\":$(id),\"result\":$1}}"; }}
        while read -r line; do
            case "$line" in
                *server/discover*) say '{{"supportedVersions":["2026-07-28"],"capabilities":{{}}}}' ;;
                *tools/call*) {on_call} ;;
            esac
        done
        {at_end}
        "#
    );
    Command::new("sh").arg("-c").arg(script)
}

pub(super) const OK: &str = r#"say '{"content":[{"type":"text","text":"ok"}]}'"#;

/// Collects the process ids that children say on standard error.
fn watched(command: Command) -> (Command, Arc<Mutex<Vec<String>>>) {
    let pids: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = pids.clone();
    let command = command.on_stderr(move |line| {
        if let Some(pid) = line.strip_prefix("pid ") {
            sink.lock().unwrap().push(pid.to_owned());
        }
    });
    (command, pids)
}

fn is_running(pid: &str) -> bool {
    Path::new("/proc").join(pid).exists()
}

#[tokio::test]
async fn a_child_answers_and_leaves_without_a_zombie() {
    let (command, pids) = watched(shell(OK));
    let client = Client::connect(command).await.unwrap();
    assert_eq!(text(&client.call("t").await.unwrap()), "ok");
    let pid = pids.lock().unwrap()[0].clone();
    assert!(is_running(&pid));
    client.close().await;
    assert!(!is_running(&pid));
}

/// Connects to a child that does `at_end` when it should leave, and leaves it.
async fn left(at_end: &str) -> Vec<String> {
    let (command, pids) = watched(staying(OK, at_end));
    // Long enough for a busy machine.
    let command = command.grace(std::time::Duration::from_secs(1));
    let client = Client::connect(command).await.unwrap();
    while pids.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let pid = pids.lock().unwrap()[0].clone();
    client.close().await;
    assert!(!is_running(&pid));
    let said = pids.lock().unwrap().clone();
    said[1..].to_vec()
}

#[tokio::test]
async fn a_child_that_does_not_leave_is_told_by_a_signal() {
    let heeds = "trap 'echo pid told >&2; exit' TERM; while :; do sleep 0.01; done";
    assert_eq!(left(heeds).await, ["told"]);
}

#[tokio::test]
async fn a_child_that_does_not_care_is_killed() {
    assert!(left("trap '' TERM; exec sleep 1000").await.is_empty());
}

#[tokio::test]
async fn a_child_whose_client_is_dropped_does_not_stay() {
    let (command, pids) = watched(staying(OK, "trap '' TERM; exec sleep 1000"));
    let client = Client::connect(command).await.unwrap();
    client.call("t").await.unwrap();
    let pid = pids.lock().unwrap()[0].clone();
    drop(client);
    while is_running(&pid) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_child_that_died_is_started_again_and_its_calls_fail() {
    let (command, pids) = watched(shell("exit 1"));
    let client = Client::connect(command).await.unwrap();
    for _ in 0..2 {
        let error = client.call("t").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
    }
    // What the second child said arrives before its death does, or soon after.
    while pids.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let error = Client::connect(Command::new("/no/such/program"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "MR0501");
}

#[tokio::test]
async fn a_child_that_ends_leaves_its_exit_code_and_its_last_words() {
    let script = "for n in 1 2 3 4 5 6; do echo line $n >&2; done; printf 'no \\033[31mdatabase' >&2; exit 3";
    let command = Command::new("sh").args(["-c", script]);
    let error = Client::connect(command).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.code()),
        (ErrorKind::Unavailable, "MR0520")
    );
    assert_eq!(
        error.to_string(),
        "the server's process ended: exit status: 3 (MR0520)"
    );
    let last_words = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(
        last_words,
        "its last output was: line 3 | line 4 | line 5 | line 6 | no \u{fffd}[31mdatabase"
    );
}

#[tokio::test]
async fn a_child_that_is_killed_leaves_its_signal() {
    let command = Command::new("sh").args(["-c", "kill -9 $$"]);
    let error = Client::connect(command).await.unwrap_err();
    assert!(error.to_string().contains("signal: 9"), "{error}");
}
