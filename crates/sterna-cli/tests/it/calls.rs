use expect_test::{Expect, expect};
use serde_json::json;
use tempfile::TempDir;

use crate::command::{Ran, command, run};
use crate::server;

/// Runs a command against a server; `URL` stands for where it is.
#[track_caller]
pub(crate) fn at(url: &str, args: &[&str]) -> Ran {
    let args = args.iter().map(|arg| arg.replace("URL", url));
    run(command().args(args), "")
}

#[track_caller]
fn check(args: &[&str], expected: Expect) {
    let url = server::start();
    expected.assert_eq(&at(&url, args).shown().replace(&url, "URL"));
}

#[test]
fn a_tool_is_called_with_arguments() {
    check(
        &["call", "URL", "echo", "text=hello", "times:=2"],
        expect![[r#"
        hello hello
        exit 0
    "#]],
    );
}

#[test]
fn arguments_come_from_stdin_too() {
    let url = server::start();
    let ran = run(
        command().args(["call", &url, "echo", "times:=3", "--args", "-"]),
        r#"{"text":"a","times":1}"#,
    );
    assert_eq!(ran.stdout, "a a a\n");
}

#[test]
fn answers_are_matched_by_key_over_the_rounds() {
    check(
        &[
            "call",
            "URL",
            "deploy",
            "service=billing",
            "--answer",
            "owner=me",
            "--answer",
            "reason.reason=tested",
        ],
        expect![[r#"
            plan for billing: tested, me
            exit 0
        "#]],
    );
}

#[test]
fn answers_come_from_a_file_too() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("answers.json");
    let answers = json!({
        "survey": {"name": "Ada", "age": 36, "color": "green", "toppings": ["ham", "corn"]},
        "poem": "roses are red",
        "roots": ["file:///srv"],
        "signin": {"action": "accept"},
    });
    std::fs::write(&file, answers.to_string()).unwrap();
    let url = server::start();
    for (tool, result) in [
        (
            "survey",
            r#"{"name":"Ada","age":36,"color":"green","newsletter":false,"toppings":["ham","corn"]}"#,
        ),
        ("write", "by hand: roses are red"),
        ("folders", "file:///srv"),
        ("visit", "visited"),
    ] {
        let ran = at(
            &url,
            &["call", "URL", tool, "--answers", file.to_str().unwrap()],
        );
        assert_eq!(ran.stdout, format!("{result}\n"), "{ran:?}");
    }
}

#[test]
fn an_answer_that_does_not_fit_is_not_sent() {
    check(
        &["call", "URL", "survey", "--answer", "survey.age=17"],
        expect![[r#"
            error: the answer given for `survey` does not fit: `age` must be at least 18, and is `17`
            exit 2
        "#]],
    );
    check(
        &["call", "URL", "survey", "--answer", "survey=x"],
        expect![[r#"
            error: the answer given for `survey` does not fit: say which field, of name, age, color, newsletter, toppings
             hint: write --answer survey.name=VALUE
            exit 2
        "#]],
    );
}

#[test]
fn a_command_writes_in_a_models_place() {
    check(
        &["call", "URL", "write", "--sampler", "tr a-z A-Z"],
        expect![[r#"
            tr: WRITE A LINE
            exit 0
        "#]],
    );
}

#[test]
fn folders_are_told_when_they_are_named() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let url = server::start();
    let ran = at(
        &url,
        &["call", "URL", "folders", "--root", path.to_str().unwrap()],
    );
    assert_eq!(ran.stdout, format!("file://{}\n", path.display()));
}

#[test]
fn a_call_is_resumed_by_another_process_at_another_instance() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("call.json");
    let file = file.to_str().unwrap();
    let (first, second) = (server::start(), server::start());
    let ran = at(
        &first,
        &[
            "--json",
            "call",
            "URL",
            "deploy",
            "service=billing",
            "--save",
            file,
        ],
    );
    assert_eq!(ran.code, 4);
    assert_eq!(
        ran.json()["inputRequired"]["reason"]["method"],
        "elicitation/create"
    );

    let ran = at(
        &second,
        &[
            "resume",
            file,
            "--at",
            "URL",
            "--answer",
            "reason=tested",
            "--save",
            file,
        ],
    );
    assert_eq!(ran.code, 4, "{ran:?}");
    let elsewhere = ["resume", file, "--at", "URL", "--answer", "owner=me"];
    assert_eq!(
        at(&first, &elsewhere).shown(),
        "plan for billing: tested, me\nexit 0\n"
    );
}

#[test]
fn without_a_file_the_paused_call_is_printed_and_can_be_piped_back() {
    let url = server::start();
    let ran = at(&url, &["call", "URL", "confirm"]);
    assert_eq!(ran.code, 4);
    assert!(ran.stderr.starts_with("input required: sure\n"), "{ran:?}");
    let resumed = run(
        command().args(["resume", "-", "--accept", "sure"]),
        &ran.stdout,
    );
    assert_eq!(resumed.shown(), "agreed: true\nexit 0\n");
}

#[test]
fn a_saved_call_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("call.json");
    at(
        &server::start(),
        &["call", "URL", "confirm", "--save", file.to_str().unwrap()],
    );
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn the_token_of_a_saved_call_can_be_inspected_with_the_keys() {
    let folder = TempDir::new().unwrap();
    let keys = folder.path().join("keys.toml");
    let ring = sterna_seal::Keyring::new([sterna_seal::Key::new(server::secret())]).unwrap();
    std::fs::write(&keys, ring.to_toml().as_str()).unwrap();
    let ran = at(
        &server::start(),
        &["--json", "call", "URL", "deploy", "service=billing"],
    );
    let token = ran.json()["state"].as_str().unwrap().to_owned();
    let mut command = command();
    command
        .args([
            "--json",
            "token",
            "inspect",
            &token,
            "--audience",
            "desk",
            "--keys",
        ])
        .arg(&keys);
    command.args([
        "--anonymous",
        "--tool",
        "deploy",
        "--arguments",
        r#"{"service":"billing"}"#,
    ]);
    let seen = run(&mut command, "");
    assert_eq!(seen.code, 0, "{seen:?}");
    let state = &seen.json()["state"];
    assert_eq!(state["asked"], json!(["reason"]));
    assert_eq!(
        state["entries"][0],
        json!({"key": "plan", "kind": "step", "bytes": 18, "value": null})
    );
    let seen = run(command.arg("--show-values"), "");
    assert_eq!(
        seen.json()["state"]["entries"][0]["value"],
        "\"plan for billing\""
    );
}

#[test]
fn a_server_of_the_earlier_era_asks_and_completes() {
    let url = server::start();
    let call = [
        "call",
        "URL",
        "deploy",
        "service=billing",
        "--era",
        "legacy",
    ];
    let answered = [
        &call[..],
        &["--answer", "reason=tested", "--answer", "owner=me"],
    ]
    .concat();
    let ran = at(&url, &answered);
    assert_eq!(ran.shown(), "plan for billing: tested, me\nexit 0\n");
    let ran = at(&url, &call);
    assert_eq!(ran.code, 4, "{ran:?}");
    let ran = at(
        &url,
        &[
            "call",
            "URL",
            "survey",
            "--era",
            "legacy",
            "--decline",
            "form",
        ],
    );
    assert_eq!(ran.shown(), "declined\nexit 5\n");
}

#[test]
fn a_log_message_of_a_tool_is_seen() {
    let url = server::start_workshop();
    for era in ["modern", "legacy"] {
        let call = ["call", "URL", "chatter", "--era", era];
        let ran = at(&url, &call);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "done\n"), "{ran:?}");
        assert!(
            ran.stderr.contains("warning: the disk is nearly full"),
            "{era}: {ran:?}"
        );
        assert!(ran.stderr.contains("info: half-way"), "{era}: {ran:?}");
        assert!(!ran.stderr.contains("details"), "{era}: {ran:?}");
        let ran = at(&url, &[&["-q"], &call[..]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{era}");
        let ran = at(&url, &[&["-v"], &call[..]].concat());
        assert!(ran.stderr.contains("debug: details"), "{era}: {ran:?}");
    }
}
