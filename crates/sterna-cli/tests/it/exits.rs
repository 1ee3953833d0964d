//! Every exit code, reached.

use std::io::Write as _;
use std::net::TcpListener;

use tempfile::NamedTempFile;

use crate::calls::at;
use crate::command::{command, run, sterna};
use crate::server;

#[test]
fn done_is_0() {
    assert_eq!(
        at(&server::start(), &["call", "URL", "echo", "text=a"]).code,
        0
    );
}

#[test]
fn a_failure_is_1() {
    let ran = at(&server::start(), &["--json", "call", "URL", "nothing"]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.json()["error"]["exit"], 1);
}

#[test]
fn a_server_that_asks_for_ever_is_1() {
    let url = server::start();
    let call = ["call", "URL", "deploy", "service=a"];
    let answers = ["--answer", "reason=b", "--answer", "owner=c"];
    let ran = at(
        &url,
        &[&call[..], &answers, &["--max-rounds", "1"]].concat(),
    );
    assert_eq!(
        ran.shown(),
        "error: after 1 rounds the server still asks for more\n hint: --max-rounds lets it ask on\nexit 1\n"
    );
    let ran = at(
        &url,
        &[&call[..], &answers, &["--max-rounds", "2"]].concat(),
    );
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn misuse_is_2() {
    for args in [
        "call",
        "call nowhere echo",
        "call http://127.0.0.1:1/mcp",
        "call http://127.0.0.1:1/mcp echo text",
        "list",
        "complete http://127.0.0.1:1/mcp topic=a",
    ] {
        assert_eq!(sterna(args).code, 2, "{args}");
    }
    let mut resume = command();
    let ran = run(resume.args(["resume", "-"]), "{}");
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn an_error_of_the_tool_is_3() {
    let url = server::start();
    let ran = at(&url, &["call", "URL", "fail"]);
    assert_eq!(
        ran.shown(),
        "the tool returned an error\nthe disk is full\nexit 3\n"
    );
    let ran = at(&url, &["--json", "call", "URL", "fail"]);
    assert_eq!((ran.code, &ran.json()["isError"]), (3, &true.into()));
}

#[test]
fn input_required_is_4() {
    let ran = at(&server::start(), &["--json", "call", "URL", "confirm"]);
    assert_eq!(ran.code, 4);
    assert_eq!(ran.json()["request"]["name"], "confirm");
}

#[test]
fn declined_and_cancelled_are_5() {
    let url = server::start();
    let ran = at(&url, &["call", "URL", "survey", "--decline", "survey"]);
    assert_eq!(ran.shown(), "declined\nexit 5\n");
    let ran = at(&url, &["call", "URL", "survey", "--cancel", "survey"]);
    assert_eq!(ran.shown(), "cancelled\nexit 5\n");
}

#[test]
fn authorization_needed_is_6_until_a_token_is_given() {
    let token = "a-token-that-is-never-guessed-0123456789";
    let url = server::start_guarded(token);
    let ran = at(&url, &["call", "URL", "echo", "text=a"]);
    assert_eq!(ran.code, 6, "{ran:?}");
    assert!(ran.stderr.contains("--bearer-file"), "{ran:?}");
    let mut file = NamedTempFile::new().unwrap();
    writeln!(file, "{token}").unwrap();
    let path = file.path().to_str().unwrap();
    assert_eq!(
        at(
            &url,
            &["call", "URL", "echo", "text=a", "--bearer-file", path]
        )
        .code,
        0
    );
    let mut with_env = command();
    with_env.args(["call", &url, "echo", "text=a"]);
    assert_eq!(run(with_env.env("STERNA_BEARER", token), "").code, 0);
    assert_eq!(
        run(
            with_env
                .env_remove("STERNA_BEARER")
                .env("MINE", token)
                .args(["--bearer-env", "MINE"]),
            ""
        )
        .code,
        0
    );
}

#[test]
fn no_connection_is_7() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let ran = sterna(&format!("list http://127.0.0.1:{port}/mcp"));
    assert_eq!(ran.code, 7, "{ran:?}");
    assert!(ran.stderr.contains("is the server running"), "{ran:?}");
    let ran = sterna("list -- /nonexistent/server");
    assert_eq!(ran.code, 7, "{ran:?}");
}

#[test]
fn no_common_version_is_7() {
    let url = server::start_modern();
    let ran = at(&url, &["--json", "list", "URL", "--era", "legacy"]);
    assert_eq!((ran.code, &ran.json()["error"]["exit"]), (7, &7.into()));
}

#[test]
fn a_silent_server_is_124() {
    let ran = at(
        &server::start(),
        &["--timeout", "300ms", "call", "URL", "sleep"],
    );
    assert_eq!(ran.code, 2, "the flag belongs to the subcommand");
    let ran = at(
        &server::start(),
        &["call", "URL", "sleep", "--timeout", "300ms"],
    );
    assert_eq!(ran.code, 124, "{ran:?}");
}
