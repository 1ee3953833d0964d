//! The command that is printed to go on with a call does go on with it.

use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use crate::command::{Ran, command, run};

/// A server in shell that asks `sure` once.
const SERVER: &str = r#"
id() { printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/'; }
say() { echo "{\"jsonrpc\":\"2.0\",\"id\":$(id),\"result\":$1}"; }
while read -r line; do
    case "$line" in
        *server/discover*) say '{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}' ;;
        *requestState*) say '{"resultType":"complete","content":[{"type":"text","text":"went on"}]}' ;;
        *tools/call*) say '{"resultType":"input_required","requestState":"s","inputRequests":{"it":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"why":{"type":"string"}}}}}}}' ;;
    esac
done
"#;

struct Case {
    folder: TempDir,
}

impl Case {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("a server.sh"), SERVER).unwrap();
        let servers = json!({"mcpServers": {
            "my server": {"command": "sh", "args": ["a server.sh"]},
        }});
        std::fs::write(folder.path().join("mcp.json"), servers.to_string()).unwrap();
        Self { folder }
    }

    fn sterna(&self, args: &[&str]) -> Ran {
        run(command().current_dir(&self.folder).args(args), "")
    }

    /// Has a shell run the line that was printed after `go on with: `.
    fn goes_on(&self, said: &str, input: &str) -> Ran {
        let line = said
            .split("go on with: ")
            .nth(1)
            .unwrap()
            .lines()
            .next()
            .unwrap();
        let line = line
            .replace("KEY.FIELD=VALUE", "it.why=because")
            .replace("FILE", "-");
        let line = line.replacen("sterna", env!("CARGO_BIN_EXE_sterna"), 1);
        let mut shell = Command::new("sh");
        shell
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("XDG_CONFIG_HOME", "/nonexistent")
            .args(["-c", &line]);
        let ran = run(&mut shell, input);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, "went on\n"),
            "{line}: {ran:?}"
        );
        ran
    }
}

#[test]
fn a_call_of_a_command_goes_on_as_it_says() {
    let case = Case::new();
    let server = ["--", "sh", "a server.sh"];
    let ran = case.sterna(&[&["call", "t", "--save", "my call.json"], &server[..]].concat());
    assert_eq!(ran.code, 4, "{ran:?}");
    case.goes_on(&ran.stderr, "");
    let ran = case.sterna(&[&["call", "t"], &server[..]].concat());
    case.goes_on(&ran.stderr, &ran.stdout);
}

#[test]
fn a_call_of_an_entry_goes_on_as_it_says() {
    let case = Case::new();
    let ran = case.sterna(&["call", "my server", "t", "--save", "call.json"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    case.goes_on(&ran.stderr, "");
}

#[test]
fn a_call_of_a_command_that_is_resumed_without_it_says_what_is_missing() {
    let case = Case::new();
    let server = ["--", "sh", "a server.sh"];
    case.sterna(&[&["call", "t", "--save", "call.json"], &server[..]].concat());
    let ran = case.sterna(&["resume", "call.json", "--answer", "it.why=x"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    for part in ["call.json", "`sh`", "-- sh", "--at NAME"] {
        assert!(ran.stderr.contains(part), "{part} is not in {ran:?}");
    }
}
