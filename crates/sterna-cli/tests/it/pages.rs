//! Output shown on the pages is the output of the command.

use tempfile::TempDir;

use crate::api::Api;
use crate::command::{command, run};
use crate::server;

const CLI: &str = include_str!("../../../../docs/cli.md");
const HTTP: &str = include_str!("../../../../docs/http.md");
const REQUEST_STATE: &str = include_str!("../../../../docs/request-state.md");

/// The blocks of `language` on a page.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    let blocks = page.split(&begin).skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap())
        .collect()
}

/// Runs the commands of a block in one folder and compares what they print. A
/// line with `…` stands for any number of lines.
#[track_caller]
fn plays(block: &str, url: &str) {
    let folder = TempDir::new().unwrap();
    for (name, text) in FILES {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let mut id = TASK.to_owned();
    for part in block.split("$ sterna ").skip(1) {
        let (line, expected) = part.split_once('\n').unwrap();
        let line = line.replace(URL, url).replace(TASK, &id);
        let mut tried = command();
        tried.current_dir(folder.path()).args(line.split(' '));
        let ran = run(&mut tried, "");
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        if line.contains("--detach") {
            id = ran.stdout.trim().to_owned();
        }
        let printed = printed.replace(&id, TASK).replace(url, URL);
        compare(&line, expected, &printed);
    }
}

#[track_caller]
fn compare(line: &str, expected: &str, printed: &str) {
    let mut rest = printed.lines();
    let mut skips = false;
    for expected in expected.lines() {
        if expected.trim() == "…" {
            skips = true;
            continue;
        }
        let found = match skips {
            true => rest.any(|line| line == expected),
            false => rest.next() == Some(expected),
        };
        assert!(found, "sterna {line}\nno {expected:?} in\n{printed}");
        skips = false;
    }
}

#[test]
fn the_commands_of_the_manual_print_what_it_says() {
    let url = server::start_documented();
    let blocks = blocks(CLI, "console");
    let (http, mcp): (Vec<&str>, Vec<&str>) =
        blocks.iter().partition(|block| block.contains("call-http"));
    assert_eq!((http.len(), mcp.len()), (1, 3));
    for block in mcp {
        plays(block, &url);
    }
    plays_at_the_shop(http[0]);
}

#[test]
fn the_command_of_the_guide_to_http_prints_what_it_says() {
    let mut blocks = blocks(HTTP, "console");
    blocks.retain(|block| block.starts_with("$ sterna "));
    assert_eq!(blocks.len(), 1);
    plays_at_the_shop(blocks[0]);
}

/// Runs a block against a route that is the one of the example `checkout`.
#[track_caller]
fn plays_at_the_shop(block: &str) {
    let api = Api::start();
    let here = block.replace(&format!("{SHOP}/checkout"), &api.at("/pay"));
    plays(&here.replace(SHOP, &api.url), &api.url);
}

#[test]
fn the_configuration_of_the_manual_is_one() {
    let folder = TempDir::new().unwrap();
    let mut text = blocks(CLI, "toml")[0].to_owned();
    let files = folder.path().join("mcp.json");
    text = text.replace("/home/ada/mcp.json", files.to_str().unwrap());
    let bound = blocks(CLI, "toml")[1];
    std::fs::create_dir(folder.path().join("sterna")).unwrap();
    let config = format!("{text}{bound}");
    std::fs::write(folder.path().join("sterna/config.toml"), config).unwrap();
    let mut list = command();
    list.env("XDG_CONFIG_HOME", folder.path());
    let ran = run(list.args(["-q", "list", &server::start()]), "");
    assert_eq!(ran.code, 0, "{ran:?}");
    // Every field has its variable.
    for line in text.lines() {
        let (field, _) = line.split_once(" = ").unwrap();
        let variable = format!("$STERNA_{}", field.to_uppercase());
        assert!(line.ends_with(&variable), "{line}");
    }
}

#[test]
fn the_key_file_of_the_guide_is_one() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("keys.toml");
    std::fs::write(&file, blocks(REQUEST_STATE, "toml")[0]).unwrap();
    let ran = run(command().args(["keys", "list"]).arg(&file), "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("made in May"), "{ran:?}");
}

const FILES: [(&str, &str); 3] = [
    (
        "secrets.json",
        r#"{"login": {"user": "ada", "password": "hunter2"}}"#,
    ),
    ("order.json", r#"{"order": "big"}"#),
    ("ada.token", "ada"),
];
const SHOP: &str = "http://127.0.0.1:8090";
const URL: &str = "http://127.0.0.1:8080/mcp";
const TASK: &str = "3f6c5a7e7b3c9d1e01976f6c5a7e7b3c";
