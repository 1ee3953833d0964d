//! The pages a newcomer reads, done by somebody who has read nothing else.

mod page;
mod reader;

use std::process::Command;

use page::tasks;
use reader::{Dialogue, Reader, workspace};

const README: &str = include_str!("../../../../../README.md");
const GETTING_STARTED: &str = include_str!("../../../../../docs/getting-started.md");

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
    reader.does(tasks(GETTING_STARTED, None), &dialogues);

    // "Stop one of them while the form is open, and answer."
    let call = "sterna call http://127.0.0.1:8080/mcp deploy service=billing";
    reader.begins(call);
    reader.talks(&[("Deploy billing?", "")]);
    let stopped = Command::new("kill").arg(&reader.jobs[0]).status().unwrap();
    assert!(stopped.success());
    reader.talks(&APPROVAL[1..]);
    reader.ends(call, 0);
}

#[test]
fn the_first_command_of_the_readme_is_the_demo() {
    let page = tasks(README, Some("See it"));
    let [page::Task::Command(line)] = &page[..] else {
        panic!("{page:?}");
    };
    let shown = line.strip_prefix("cargo run --release -- ").unwrap();
    // The workspace has one binary to run, and it is this one.
    let default = std::fs::read_to_string(format!("{}Cargo.toml", workspace())).unwrap();
    assert!(default.contains("default-members = [\"crates/sterna-cli\"]"));
    assert_eq!(crate::command::sterna(&format!("-q {shown}")).code, 0);
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
    ("details:", "4301\r"),
    ("Send this?", "\r"),
    ("And who has confirmed that?", ""),
    ("details:", "4301\r"),
    ("confirmed_by:", "Ada\r"),
    ("Send this?", "\r"),
    ("amount:", "20\r"),
    ("Send this?", "\r"),
    ("name:", "Ada\r"),
    ("Send this?", "\r"),
    ("name:", "Ada\r"),
    ("Send this?", "\r"),
    ("a task survives kill -9 of every process", ""),
];
