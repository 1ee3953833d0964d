//! Text of strangers never steers the terminal or deceives its reader.

use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{command, run};
use crate::raw_server;
use crate::terminal::User;

/// `name` with a window title, the clipboard, a C1 sequence, concealed text, a
/// right-to-left override, a zero-width space, a tag and a line separator.
pub(crate) fn evil(name: &str) -> String {
    format!(
        "{name}\u{1b}]0;owned\u{7}\u{1b}]52;c;b3duZWQ=\u{7}\u{9b}31m\u{1b}[8m\u{202e}\u{200b}\u{e0041}\u{2028}\r"
    )
}

/// Fails if a part of [`evil`] is in `shown`. The styles of the command are no
/// part of it, nor are line ends of a terminal.
#[track_caller]
pub(crate) fn is_harmless(what: &str, shown: &str) {
    let mut rest = shown.replace("\r\n", "\n");
    for own in [
        "\u{1b}[0m",
        "\u{1b}[1m",
        "\u{1b}[2m",
        "\u{1b}[31m",
        "\u{1b}[32m",
        "\u{1b}[36m",
    ] {
        rest = rest.replace(own, "");
    }
    let bad = rest.chars().find(|&each| {
        let steers = each.is_control() && !matches!(each, '\n' | '\t');
        steers || matches!(each, '\u{202e}' | '\u{200b}' | '\u{e0041}' | '\u{2028}')
    });
    assert_eq!(bad, None, "{what} showed {rest:?}");
}

fn question() -> Value {
    json!({"method": "elicitation/create", "params": {
        "message": evil("message"),
        "requestedSchema": {
            "type": "object",
            "properties": {
                evil("field"): {
                    "type": "string",
                    "title": evil("title"),
                    "description": evil("description"),
                    "default": evil("default"),
                },
                evil("choice"): {"type": "string", "enum": [evil("one"), evil("two")]},
            },
            "required": [evil("field")],
        },
    }})
}

fn task(status: &str) -> Value {
    json!({
        "taskId": evil("task"),
        "status": status,
        "statusMessage": evil("says"),
        "createdAt": evil("created"),
        "lastUpdatedAt": evil("changed"),
        "ttlMs": null,
        "pollIntervalMs": 50,
    })
}

fn with(mut value: Value, more: Value) -> Value {
    let more = more.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(more);
    value
}

/// Puts escapes wherever a server has a word.
fn answer(method: &str, params: &Value) -> Value {
    let error = json!({"code": -32602, "message": evil("refused"), "data": {"at": evil("data")}});
    let schema = json!({"type": "object", "properties": {evil("argument"): {"type": "string"}}});
    let list = |member: &str, item: Value| json!({"result": {"resultType": "complete", member: [item], "ttlMs": 0, "cacheScope": evil("scope")}});
    match method {
        "server/discover" => {
            let mut said = raw_server::discovered(&evil("name"));
            said["result"]["instructions"] = evil("instructions").into();
            said["result"]["capabilities"] = json!({
                "tools": {"listChanged": true}, "prompts": {}, "resources": {}, "completions": {},
                "experimental": {evil("experiment"): {}},
                "extensions": {"io.modelcontextprotocol/tasks": {}},
            });
            said
        }
        "tools/list" => list(
            "tools",
            json!({
                "name": evil("tool"), "description": evil("about"), "inputSchema": schema,
                "annotations": {"readOnlyHint": true},
            }),
        ),
        "prompts/list" => list(
            "prompts",
            json!({
                "name": evil("prompt"), "title": evil("title"),
                "arguments": [{"name": evil("argument")}],
            }),
        ),
        "resources/list" => list(
            "resources",
            json!({"uri": evil("file:///a"), "name": evil("a")}),
        ),
        "resources/templates/list" => list(
            "resourceTemplates",
            json!({"uriTemplate": evil("file:///{a}"), "name": evil("a")}),
        ),
        "completion/complete" => json!({"result": {
            "resultType": "complete", "completion": {"values": [evil("value")]},
        }}),
        "prompts/get" => json!({"result": {"resultType": "complete", "messages": [
            {"role": "user", "content": {"type": "text", "text": evil("text")}},
        ]}}),
        "resources/read" => json!({"result": {"resultType": "complete", "contents": [
            {"uri": evil("file:///a"), "text": evil("text")},
            {"uri": evil("file:///b"), "mimeType": evil("mime"), "blob": "aGk="},
        ], "ttlMs": 0, "cacheScope": "private"}}),
        "subscriptions/listen" => json!([
            {"method": "notifications/subscriptions/acknowledged",
             "params": {"notifications": {"resourceSubscriptions": [evil("file:///a")]}}},
            {"method": "notifications/resources/updated", "params": {"uri": evil("file:///a")}},
        ]),
        "tasks/get" => {
            let result = with(
                task("input_required"),
                json!({
                    "resultType": "complete", "inputRequests": {evil("key"): question()},
                }),
            );
            json!({"result": result})
        }
        "tools/call" => match params["name"].as_str().unwrap() {
            "asks" => json!({"result": {
                "resultType": "input_required", "requestState": evil("state"),
                "inputRequests": {evil("key"): question()},
            }}),
            "samples" => json!({"result": {
                "resultType": "input_required", "requestState": "s",
                "inputRequests": {evil("key"): {"method": "sampling/createMessage", "params": {
                    "maxTokens": 9, "systemPrompt": evil("system"),
                    "messages": [{"role": "user", "content": {"type": "text", "text": evil("write")}}],
                }}},
            }}),
            "answers" => json!({"result": {
                "resultType": "complete", "isError": true, "structuredContent": {evil("a"): evil("b")},
                "content": [
                    {"type": "text", "text": evil("text")},
                    {"type": "image", "mimeType": evil("mime"), "data": "aGk="},
                    {"type": "resource_link", "uri": evil("file:///a"), "name": evil("a")},
                    {"type": evil("kind")},
                ],
            }}),
            "tasks" => json!({"result": with(task("working"), json!({"resultType": "task"}))}),
            _ => json!({"error": error}),
        },
        _ => json!({"error": error}),
    }
}

/// Runs a command with styles on, as if on a terminal, in every mode.
#[track_caller]
fn runs(folder: &TempDir, args: &[&str]) {
    for modes in [&[][..], &["-v"], &["--json"], &["--json", "-v"], &["-q"]] {
        let mut tried = command();
        tried
            .current_dir(folder)
            .env("CLICOLOR_FORCE", "1")
            .args(modes)
            .args(args);
        let ran = run(&mut tried, "");
        let what = format!("{modes:?} {args:?} ({})", ran.code);
        is_harmless(&what, &ran.stdout);
        is_harmless(&what, &ran.stderr);
        assert_ne!(ran.code, 101, "{what}: {}", ran.stderr);
    }
}

#[test]
fn no_command_shows_an_escape_of_a_server_in_any_mode() {
    let folder = TempDir::new().unwrap();
    let (url, _) = raw_server::start(answer);
    let url = url.as_str();
    for args in [
        &["discover", url][..],
        &["list", url],
        &["doctor", url],
        &["complete", url, "a=b", "--prompt", "p"],
        &["prompt", url, "p"],
        &["read", url, "file:///a"],
        &["call", url, "answers"],
        &["call", url, "refuses"],
        &["call", url, "tasks", "--detach"],
        &["call", url, "tasks"],
        &["task", "get", url, "t"],
        &["task", "follow", url, "t"],
        &["task", "answer", url, "t"],
        &["task", "cancel", url, "t"],
        &["listen", url, "--resource", "file:///a", "--count", "1"],
    ] {
        runs(&folder, args);
    }
}

#[test]
fn no_question_shows_an_escape_to_those_who_do_not_answer_it() {
    let folder = TempDir::new().unwrap();
    let (url, _) = raw_server::start(answer);
    let url = url.as_str();
    let (key, field) = (evil("key"), evil("field"));
    for args in [
        &["call", url, "asks"][..],
        &["call", url, "asks", "--no-input"],
        &["call", url, "asks", "--save", "call.json"],
        &[
            "call",
            url,
            "asks",
            "--answer",
            &format!("{key}.{field}:=[1]"),
        ],
        &["call", url, "asks", "--answer", &format!("{key}.other=x")],
        &["call", url, "asks", "--answer", &format!("{key}=x")],
        &["call", url, "asks", "--answer", "kye.a=x"],
        &["call", url, "samples", "--no-input"],
        &["call", url, "samples", "--answer", &format!("{key}.a=x")],
        &["resume", "call.json"],
        &["resume", "call.json", "--no-input", "--save", "other.json"],
        &["resume", "call.json", "--answer", &format!("{key}.other=x")],
    ] {
        runs(&folder, args);
    }
}

#[test]
fn a_form_shows_no_escape_on_a_terminal() {
    let (url, _) = raw_server::start(answer);
    for (tool, last) in [("asks", "title"), ("samples", "Answer:")] {
        let mut sterna = Command::new(env!("CARGO_BIN_EXE_sterna"));
        sterna.args(["call", &url, tool]);
        let shown = User::types_in(sterna).sees_and_stops(last);
        // A prompt steers the terminal by itself, but never with these.
        for bad in [
            "\u{1b}]",
            "\u{9b}",
            "\u{1b}[8m",
            "\u{202e}",
            "\u{200b}",
            "\u{e0041}",
        ] {
            assert!(!shown.contains(bad), "{tool} showed {bad:?} in {shown:?}");
        }
        assert!(shown.contains("key"), "{shown:?}");
    }
}

#[test]
fn files_of_strangers_show_no_escapes() {
    let folder = TempDir::new().unwrap();
    let servers = json!({"mcpServers": {
        evil("one"): {"url": evil("http://127.0.0.1:1/")},
        "two": {},
        "three": {"url": evil("${NOWHERE}")},
        "four": {"url": "http://127.0.0.1:1/mcp", "headers": {evil("x"): "y"}},
        "five": {"command": evil("/nonexistent")},
    }});
    std::fs::write(folder.path().join("mcp.json"), servers.to_string()).unwrap();
    std::fs::write(folder.path().join("bad.json"), evil("{")).unwrap();
    std::fs::write(folder.path().join("keys.toml"), evil("key")).unwrap();
    for name in ["zero", "two", "three", "four", "five", &evil("one")] {
        runs(&folder, &["list", name]);
    }
    runs(&folder, &["resume", "bad.json"]);
    runs(&folder, &["list", "x", "--mcp-json", "bad.json"]);
    runs(&folder, &["keys", "list", "keys.toml"]);
    runs(
        &folder,
        &[
            "list",
            "--",
            "sh",
            "-c",
            "printf '\\033]0;owned\\007\\302\\233'; printf '\\033]0;owned\\007\\302\\233' >&2",
        ],
    );
}

#[test]
fn json_keeps_the_value_that_it_escapes() {
    let (url, _) = raw_server::start(answer);
    let ran = run(command().args(["--json", "call", &url, "answers"]), "");
    assert_eq!(ran.json()["content"][0]["text"], evil("text"));
    assert_eq!(ran.json()["structuredContent"][evil("a")], evil("b"));
}
