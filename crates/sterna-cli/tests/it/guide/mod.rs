//! The pages a newcomer reads, followed by a reader who has read nothing else.

mod page;
mod reader;

use std::process::Command;

use page::{Task, tasks};
use reader::{Dialogue, Reader};
use tempfile::TempDir;

use crate::command::sterna;

const README: &str = include_str!("../../../../../README.md");
const GETTING_STARTED: &str = include_str!("../../../../../docs/getting-started.md");
const FROM_FASTMCP: &str = include_str!("../../../../../docs/guide/from-fastmcp.md");
const FROM_RMCP: &str = include_str!("../../../../../docs/guide/from-rmcp.md");
const SERVING: &str = include_str!("../../../../../docs/serving.md");

#[test]
fn the_first_command_of_the_readme_is_the_demo() {
    let page = tasks(README, Some("See it"));
    let [Task::Command(line)] = &page[..] else {
        panic!("{page:?}");
    };
    let shown = line.strip_prefix("cargo run --release -- ").unwrap();
    // The workspace has one binary to run, and it is this one.
    let workspace = include_str!("../../../../../Cargo.toml");
    assert!(workspace.contains("default-members = [\"crates/sterna-cli\"]"));
    assert_eq!(sterna(&format!("-q {shown}")).code, 0);
}

#[test]
fn the_readme_alone_leads_to_a_server_that_asks() {
    let mut reader = Reader::new(&["8080"]);
    let call = Dialogue {
        at: "sterna call",
        turns: &[
            ("Why deploy billing?", ""),
            ("reason:", "tested\r"),
            ("Send this?", "\r"),
            ("billing deployed: tested", ""),
        ],
        code: 0,
    };
    reader.does(tasks(README, Some("A server that asks")), &[call]);
}

#[test]
fn getting_started_leads_to_two_replicas_behind_nginx() {
    let mut reader = Reader::new(&["8080", "8081", "8082"]);
    let dialogues = [
        Dialogue {
            at: "sterna demo",
            turns: DEMO,
            code: 0,
        },
        Dialogue {
            at: "--no-input",
            turns: &[("input required: approval", "")],
            code: 4,
        },
        Dialogue {
            at: "sterna resume",
            turns: &[("billing deployed: tested", "")],
            code: 0,
        },
        Dialogue {
            at: "sterna call",
            turns: APPROVAL,
            code: 0,
        },
    ];
    let mut page = tasks(GETTING_STARTED, None);
    let has_nginx = Command::new("nginx").arg("-v").output().is_ok();
    if !has_nginx {
        lacks_nginx();
        let last = tasks(GETTING_STARTED, Some("4. nginx in front"));
        page.truncate(page.len() - last.len());
    }
    reader.does(page, &dialogues);
    if !has_nginx {
        return;
    }

    // "Stop one of them while the form is open, and answer."
    let call = "sterna call http://127.0.0.1:8080/mcp deploy service=billing";
    reader.begins(call);
    reader.talks(call, &APPROVAL[..1]);
    reader.stops_a_job();
    reader.talks(call, &APPROVAL[1..]);
    reader.ends(call, 0);
}

#[test]
fn the_counter_of_rmcp_has_its_twelve_offers_here() {
    let mut reader = Reader::new(&[]);
    reader.does(command_installed(), &[]);
    let list = Dialogue {
        at: "sterna list",
        turns: &[
            ("increment", ""),
            ("decrement", ""),
            ("get_value", ""),
            ("long_task", ""),
            ("say_hello", ""),
            ("sum", ""),
            ("get_session_id", ""),
            ("echo", ""),
            ("example_prompt", ""),
            ("counter_analysis", ""),
            ("str:////Users/to/some/path/", ""),
            ("memo://insights", ""),
        ],
        code: 0,
    };
    let sum = Dialogue {
        at: "sterna call",
        turns: &[("5", "")],
        code: 0,
    };
    reader.does(tasks(FROM_RMCP, Some("The counter")), &[list, sum]);
}

#[test]
fn the_tool_of_fastmcp_has_its_types_here() {
    let mut reader = Reader::new(&[]);
    reader.does(command_installed(), &[]);
    let call = Dialogue {
        at: "sterna call",
        turns: &[("21.5", "")],
        code: 0,
    };
    let wrong = Dialogue {
        at: "days:=8",
        turns: &[("days", "")],
        code: 3,
    };
    let page = tasks(FROM_FASTMCP, Some("A tool with types"));
    reader.does(page, &[wrong, call]);
}

/// The command, as the README has a newcomer install it.
fn command_installed() -> Vec<Task> {
    let install = tasks(README, Some("A server that asks"));
    install.into_iter().take(1).collect()
}

#[test]
fn nginx_takes_what_the_guide_to_serving_shows() {
    let folder = TempDir::new().unwrap();
    let shown = SERVING.split("```nginx\n").nth(1).unwrap();
    let shown = shown.split("```").next().unwrap();
    // A certificate is the reader's own.
    let shown = shown.replace("listen 443 ssl;", "listen 127.0.0.1:4430;");
    // So that anybody can try it, in this folder.
    let temps = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temps = temps
        .map(|kind| format!("{kind}_temp_path temp; "))
        .concat();
    let conf = format!("pid pid; events {{}} http {{ access_log off; {temps}\n{shown}}}\n");
    std::fs::write(folder.path().join("nginx.conf"), conf).unwrap();
    let mut nginx = Command::new("nginx");
    nginx.args(["-t", "-q", "-e", "stderr", "-c", "nginx.conf", "-p"]);
    match nginx.arg(folder.path()).output() {
        Ok(tested) => assert!(tested.status.success(), "{tested:?}"),
        Err(_) => lacks_nginx(),
    }
}

fn lacks_nginx() {
    assert!(std::env::var_os("CI").is_none(), "missing: nginx");
    eprintln!("skipped: nginx, install it");
}

const APPROVAL: &[(&str, &str)] = &[
    ("Deploy billing?", ""),
    ("reason:", "tested\r"),
    ("announce", "\r"),
    ("Send this?", "\r"),
    ("billing deployed: tested", ""),
];

/// The person's way through the demo.
const DEMO: &[(&str, &str)] = &[
    ("resolution:", "\r"),
    ("Send this?", "\r"),
    ("details:", "\r"),
    ("Send this?", "\r"),
    ("And who has confirmed that?", ""),
    ("details:", "\r"),
    ("confirmed_by:", "\r"),
    ("Send this?", "\r"),
    ("amount:", "\r"),
    ("Send this?", "\r"),
    ("name:", "\r"),
    ("Send this?", "\r"),
    ("name:", "\r"),
    ("Send this?", "\r"),
    ("a task survives kill -9 of every process", ""),
    ("see it on a web page: http://127.0.0.1:", ""),
    ("Ctrl-C ends it", "\u{3}"),
];
