//! `sterna … | jq`, for every subcommand.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::calls::at;
use crate::command::{command, run, sterna};
use crate::server;

/// Runs `sterna --json` and reads what is on stdout as `jq` does: one value
/// after the other, and nothing else.
#[track_caller]
fn values(url: &str, folder: &TempDir, args: &str, input: &str) -> Vec<Value> {
    let place = folder.path().to_str().unwrap();
    let args = args.replace("URL", url).replace("FOLDER", place);
    let ran = run(command().arg("--json").args(args.split(' ')), input);
    let values = serde_json::Deserializer::from_str(&ran.stdout).into_iter();
    let values: Result<Vec<Value>, _> = values.collect();
    let values = values.unwrap_or_else(|error| panic!("{args}: {error}: {ran:?}"));
    assert!(!values.is_empty(), "{args}: {ran:?}");
    values
}

#[test]
fn every_subcommand_writes_nothing_but_json() {
    let folder = TempDir::new().unwrap();
    let url = server::start();
    let paused = at(&url, &["call", "URL", "confirm"]).stdout;
    let token = serde_json::from_str::<Value>(&paused).unwrap()["state"].to_string();
    let token = token.trim_matches('"');
    let ring = sterna_seal::Keyring::new([sterna_seal::Key::new(server::secret())]).unwrap();
    std::fs::write(folder.path().join("ring.toml"), ring.to_toml().as_str()).unwrap();
    let servers = json!({"mcpServers": {"desk": {"url": url}}}).to_string();
    std::fs::write(folder.path().join("mcp.json"), servers).unwrap();
    let mut tried = BTreeSet::new();
    for (args, input) in [
        ("demo --auto", ""),
        ("call URL echo text=a", ""),
        ("call URL echo text=a -v", ""),
        ("call URL echo text=a --era legacy -v", ""),
        ("call URL confirm", ""),
        ("call URL confirm --save FOLDER/call.json", ""),
        ("call URL nothing", ""),
        ("list URL", ""),
        ("list URL --only tools", ""),
        ("list http://127.0.0.1:1/mcp", ""),
        ("discover URL", ""),
        ("doctor URL", ""),
        ("read URL note://7 --answer pin=1234", ""),
        ("prompt URL brief topic=terns --answer audience=all", ""),
        ("complete URL topic=te --prompt brief", ""),
        ("resume FOLDER/call.json --accept sure", ""),
        ("resume - --accept sure", &paused),
        ("keys new FOLDER/keys.toml", ""),
        ("keys list FOLDER/keys.toml", ""),
        ("keys rotate FOLDER/keys.toml", ""),
        ("keys check FOLDER/keys.toml", ""),
        ("keys list FOLDER/nothing.toml", ""),
        (
            "token inspect - --audience desk --keys FOLDER/ring.toml",
            token,
        ),
        ("call-http POST URL {}", ""),
        ("new FOLDER/made", ""),
        ("install claude-code greeter --print -- /bin/true", ""),
        ("gateway check FOLDER/mcp.json", ""),
        ("store stats FOLDER/nothing.db", ""),
        ("completions bash", ""),
        ("man", ""),
    ] {
        assert_eq!(values(&url, &folder, args, input).len(), 1, "{args}");
        tried.insert(args.split(' ').next().unwrap());
    }
    let url = server::start_with_tasks();
    let left = values(&url, &folder, "call URL publish title=Terns --detach", "");
    let id = left[0]["taskId"].as_str().unwrap();
    for args in [
        "task get URL ID",
        "task follow URL ID",
        "task answer URL ID --answer approval=Ada",
        "task cancel URL ID",
        "task follow URL ID",
    ] {
        let args = args.replace("ID", id);
        assert_eq!(values(&url, &folder, &args, "").len(), 1, "{args}");
        tried.insert("task");
    }
    // These run until they are ended; their output is tested where they are.
    tried.extend(["dev", "inspect", "listen"]);
    assert_eq!(tried, subcommands());
}

/// Every subcommand that the help names.
fn subcommands() -> BTreeSet<&'static str> {
    let help = Box::leak(sterna("help").stdout.into_boxed_str());
    let commands = help.split("Commands:\n").nth(1).unwrap();
    let commands = commands.split("\n\n").next().unwrap();
    let names = commands.lines().filter_map(|line| {
        let line = line.strip_prefix("  ")?;
        line.split(' ').next().filter(|name| !name.is_empty())
    });
    names.filter(|name| *name != "help").collect()
}

#[test]
fn a_pipe_that_closes_early_is_no_error() {
    let url = server::start();
    let sterna = env!("CARGO_BIN_EXE_sterna");
    let pipe = format!("{sterna} --json list {url} | head -c 1; echo ${{PIPESTATUS[0]}}");
    let mut bash = std::process::Command::new("bash");
    let ran = run(bash.args(["-c", &pipe]), "");
    assert_eq!(ran.shown(), "{0\nexit 0\n");
}

#[test]
fn a_failure_is_an_object_with_its_exit_code() {
    let ran = sterna("--json list http://127.0.0.1:1/mcp");
    let said = ran.json();
    assert_eq!((ran.code, &said["error"]["exit"]), (7, &json!(7)));
    assert!(said["error"]["message"].is_string(), "{said}");
}
