//! Errors that a newcomer meets: the place, the value, and what to do.

use crate::calls::at;
use crate::command::{Ran, sterna};
use crate::server;

#[track_caller]
fn says(ran: &Ran, parts: &[&str]) {
    for part in parts {
        assert!(ran.stderr.contains(part), "{part:?} is not in {ran:?}");
    }
}

#[test]
fn an_unknown_tool_has_a_suggestion() {
    let url = server::start();
    let ran = at(&url, &["call", "URL", "ehco", "text=a"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    says(
        &ran,
        &["no tool `ehco`", "did you mean `echo`?", "deploy, survey"],
    );
    let ran = at(&url, &["prompt", "URL", "breif", "topic=a"]);
    says(&ran, &["no prompt `breif`", "did you mean `brief`?"]);
}

#[test]
fn text_where_a_number_belongs_has_a_hint() {
    let url = server::start();
    let ran = at(&url, &["call", "URL", "echo", "text=a", "times=2"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    says(&ran, &["`times=2` is text", "write times:=2"]);
    let ran = at(&url, &["call", "URL", "echo", "text:=2"]);
    says(&ran, &["`text:=2` is no text", "write text=2"]);
}

#[test]
fn a_missing_or_unknown_argument_is_named() {
    let url = server::start();
    let ran = at(&url, &["call", "URL", "echo"]);
    says(&ran, &["needs the argument `text`", "text=TEXT"]);
    let ran = at(&url, &["call", "URL", "echo", "text=a", "tims:=2"]);
    if ran.code != 0 {
        says(
            &ran,
            &["`tims` is no argument of `echo`", "did you mean `times`?"],
        );
    }
}

#[test]
fn a_missing_capability_is_named_with_its_flag() {
    let url = server::start();
    let ran = at(&url, &["call", "URL", "write", "--no-sampling"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    says(&ran, &["sampling", "--no-sampling", "--sampler"]);
    let ran = at(&url, &["call", "URL", "folders"]);
    says(&ran, &["roots", "--root FOLDER"]);
}

#[test]
fn a_misspelled_answer_is_not_taken_in_silence() {
    let url = server::start();
    let call = ["call", "URL", "deploy", "service=a", "--answer"];
    let ran = at(&url, &[&call[..], &["reson=tested"]].concat());
    assert_eq!(ran.code, 4, "{ran:?}");
    says(&ran, &["did not ask `reson`", "did you mean `reason`?"]);
    let both = ["reason=a", "--answer", "owner=b", "--decline", "wner"];
    let ran = at(&url, &[&call[..], &both].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    says(
        &ran,
        &[
            "did not ask `wner`",
            "did you mean `owner`?",
            "owner, reason",
        ],
    );
    let right = ["reason=a", "--answer", "owner=b"];
    let ran = at(&url, &[&call[..], &right].concat());
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_misspelled_field_or_choice_lists_the_right_ones() {
    let url = server::start();
    let call = ["call", "URL", "survey", "--answer"];
    let ran = at(&url, &[&call[..], &["survey.colour=red"]].concat());
    assert_eq!(ran.code, 2, "{ran:?}");
    says(
        &ran,
        &["no field `colour`", "did you mean `color`?", "toppings"],
    );
    let ran = at(&url, &[&call[..], &["survey.color=blue"]].concat());
    says(
        &ran,
        &["`color` must be one of `red` and `green`", "is `blue`"],
    );
}

#[test]
fn a_server_command_that_dies_says_how() {
    let mut list = crate::command::command();
    let script = "echo starting >&2; printf 'no \\033]0;owned\\007database\\n' >&2; exit 3";
    list.args(["list", "--", "sh", "-c", script]);
    let ran = crate::command::run(&mut list, "");
    assert_eq!(ran.code, 7, "{ran:?}");
    says(
        &ran,
        &[
            "exit status: 3",
            "MR0520",
            "starting",
            "database",
            "by itself",
        ],
    );
    assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
}

#[test]
fn a_server_command_that_is_not_there_is_named() {
    let mut list = crate::command::command();
    list.args(["list", "--", "no-such-server"]);
    let ran = crate::command::run(&mut list, "");
    assert_eq!(ran.code, 7, "{ran:?}");
    says(&ran, &["`no-such-server`", "installed", "$PATH"]);
}

#[test]
fn a_word_that_is_too_much_is_quoted_and_cut() {
    let long = "x".repeat(1000);
    let ran = sterna(&format!("list http://127.0.0.1:1/mcp {long}"));
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.len() < 300, "{ran:?}");
}

#[test]
fn a_server_of_an_mcp_json_has_a_suggestion() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("servers.json");
    std::fs::write(
        &file,
        r#"{"mcpServers":{"billing":{"url":"http://127.0.0.1:1/mcp"}}}"#,
    )
    .unwrap();
    let ran = sterna(&format!("list bilings --mcp-json {}", file.display()));
    assert_eq!(ran.code, 2);
    says(&ran, &["no server `bilings`", "did you mean `billing`?"]);
}

#[test]
fn a_url_without_the_path_of_the_endpoint_has_a_hint() {
    let url = server::start();
    let ran = at(url.strip_suffix("/mcp").unwrap(), &["list", "URL"]);
    assert_eq!(ran.code, 7, "{ran:?}");
    says(&ran, &["nothing is at this path", "/mcp"]);
}
