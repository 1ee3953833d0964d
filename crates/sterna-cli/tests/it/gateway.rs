//! `sterna gateway` and `sterna gateway check`.

use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{command, run, sterna};
use crate::server;

/// An `mcp.json` with these servers.
fn mcp_json(servers: Value) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    std::fs::write(&file, json!({"mcpServers": servers}).to_string()).unwrap();
    (folder, file)
}

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn a_gateway_on_stdio_offers_the_servers_of_an_mcp_json() {
    let url = server::start();
    let direct = sterna(&format!("list {url} --json")).json();
    let list = |servers: Value| {
        let (_folder, file) = mcp_json(servers);
        let program = env!("CARGO_BIN_EXE_sterna");
        let mut list = command();
        list.args(["list", "--json", "--", program, "gateway", "--stdio"]);
        run(list.arg(&file), "").json()
    };
    let one = list(json!({"news": {"url": url}}));
    assert_eq!(names(&one), names(&direct));
    let two = list(json!({"news": {"url": url}, "dead": {"url": "http://127.0.0.1:9/mcp"}}));
    let prefixed: Vec<_> = names(&direct)
        .iter()
        .map(|name| format!("news_{name}"))
        .collect();
    assert_eq!(names(&two), prefixed);
}

#[test]
fn a_check_says_what_to_expect_and_fails_if_a_server_is_away() {
    let url = server::start();
    let (_folder, file) = mcp_json(json!({"news": {"url": url}}));
    let checked = run(
        command().args(["gateway", "check", "--json"]).arg(&file),
        "",
    );
    assert_eq!(checked.code, 0, "{checked:?}");
    let found = &checked.json()["servers"][0];
    assert_eq!(found["era"], "modern");
    assert_eq!(found["survival"], "forwarded");
    let dead = json!({"news": {"url": url}, "dead": {"command": "/no/such/program"}});
    let (_folder, file) = mcp_json(dead);
    let checked = run(command().args(["gateway", "check"]).arg(&file), "");
    assert_eq!(checked.code, 1);
    assert!(
        checked
            .stdout
            .contains("problem: dead: upstream_unreachable"),
        "{checked:?}"
    );
}

#[test]
fn a_gateway_does_not_start_where_it_would_not_be_safe_or_has_no_servers() {
    let url = server::start();
    let (_folder, file) = mcp_json(json!({"news": {"url": url}}));
    let open = run(
        command()
            .arg("gateway")
            .arg(&file)
            .args(["--listen", "0.0.0.0:0"]),
        "",
    );
    assert_eq!(open.code, 1);
    assert!(open.stderr.contains("MR0205"), "{open:?}");
    let (_folder, file) = mcp_json(json!({}));
    let empty = run(command().arg("gateway").arg(&file), "");
    assert_eq!(empty.code, 2);
    assert!(empty.stderr.contains("names no server"), "{empty:?}");
}
