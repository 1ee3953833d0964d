//! `-v`: what goes over the wire, and what of it is not shown.

use expect_test::{Expect, expect};

use crate::calls::at;
use crate::command::{Ran, command, run};
use crate::server;

const LOGIN: [&str; 5] = ["-v", "call", "URL", "login", "--answers"];

/// Calls the tool that asks for a password.
fn log_in(more: &[&str]) -> Ran {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("answers.json");
    let answer = r#"{"user": "ada", "password": "hunter2"}"#;
    let answers = format!(r#"{{"login": {answer}, "form": {answer}}}"#);
    std::fs::write(&file, answers).unwrap();
    let file = file.to_str().unwrap();
    at(
        &server::start_workshop(),
        &[&LOGIN[..], &[file], more].concat(),
    )
}

/// The first line of each block.
#[track_caller]
fn check(ran: &Ran, expected: Expect) {
    let lines = ran.stderr.lines();
    let heads = lines.filter(|line| line.starts_with("-->") || line.starts_with("<--"));
    // What a server calls its questions is different every time.
    let heads = heads.map(|line| match line.split_once(" (\"") {
        Some((head, _)) => format!("{head} (…)\n"),
        None => format!("{line}\n"),
    });
    let mut heads: String = heads.collect();
    // And so are the ids of a session over HTTP, which begin anywhere.
    let ids = heads.split(['(', ')']).skip(1).step_by(2);
    if let Some(Ok(first)) = ids.map(str::parse::<u64>).next() {
        for number in 0..9 {
            let id = (first + number).to_string();
            heads = heads.replace(&format!("({id})"), &format!("({})", number + 1));
        }
    }
    expected.assert_eq(&heads);
}

#[track_caller]
fn hides(ran: &Ran, secret: &str) {
    assert!(
        !ran.stderr.contains(secret),
        "{secret} is shown: {}",
        ran.stderr
    );
}

#[test]
fn a_modern_call_is_shown_round_by_round_without_its_secrets() {
    let ran = log_in(&[]);
    assert_eq!(ran.stdout, "ada has 7 characters\n");
    check(
        &ran,
        expect![[r#"
        --> server/discover (1)
        <-- result (1), HTTP 200
        --> tools/call (2)
        <-- result (2), HTTP 200
        --> tools/call (3)
        <-- result (3), HTTP 200
    "#]],
    );
    hides(&ran, "hunter2");
    hides(&ran, "\"s1.");
    for shown in [
        "    mcp-method: tools/call",
        "\"user\": \"ada\"",
        "\"password\": \"(hidden, 7 characters)\"",
        "\"requestState\": \"(hidden, ",
    ] {
        assert!(
            ran.stderr.contains(shown),
            "{shown} is missing: {}",
            ran.stderr
        );
    }
}

#[test]
fn a_session_is_shown_too_with_what_the_server_asks() {
    let ran = log_in(&["--era", "legacy"]);
    assert_eq!(ran.stdout, "ada has 7 characters\n");
    check(
        &ran,
        expect![[r#"
            --> initialize (1)
            <-- result (1), HTTP 200
            --> notifications/initialized
            --> logging/setLevel (2)
            <-- result (2), HTTP 200
            --> tools/call (3)
            <-- elicitation/create (…)
            --> result (…)
            <-- result (3), HTTP 200
        "#]],
    );
    hides(&ran, "hunter2");
    assert!(ran.stderr.contains("mcp-session-id: (hidden, "), "{ran:?}");
}

#[test]
fn header_fields_of_the_user_are_named_and_hidden() {
    let token = "a-token-that-is-never-guessed-0123456789";
    let url = server::start_guarded(token);
    let mut call = command();
    call.args(["-v", "call", &url, "echo", "text=a"]);
    let ran = run(call.env("STERNA_BEARER", token), "");
    assert_eq!(ran.code, 0, "{ran:?}");
    hides(&ran, token);
    let said = "with every request: authorization (hidden)\n";
    assert!(ran.stderr.starts_with(said), "{ran:?}");
}

#[test]
fn a_pipe_is_shown_as_http_is() {
    let mut call = command();
    call.args([
        "-v",
        "call",
        "greet",
        "password=hunter2",
        "--",
        "sh",
        "-c",
        SERVER,
    ]);
    let ran = run(&mut call, "");
    assert_eq!(ran.stdout, "hello\n", "{ran:?}");
    hides(&ran, "hunter2");
    check(
        &ran,
        expect![[r#"
            --> server/discover (1)
            <-- result (1)
            --> tools/call (2)
            <-- result (2)
        "#]],
    );
    assert!(
        ran.stderr.contains("the server says this aside\n"),
        "{ran:?}"
    );
}

#[test]
fn without_the_flag_nothing_is_shown() {
    let ran = at(&server::start(), &["call", "URL", "echo", "text=a"]);
    assert_eq!(ran.stderr, "");
}

/// A modern server in a few lines of shell.
const SERVER: &str = r#"
echo the server says this aside >&2
while read -r line; do
    id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    case $line in
    *server/discover*) result='"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"' ;;
    *tools/call*) result='"content":[{"type":"text","text":"hello"}]' ;;
    *) exit ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete",%s}}\n' "$id" "$result"
done
"#;
