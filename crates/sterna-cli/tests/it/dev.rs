//! `sterna dev`: what a person sees who edits a server while it runs.

use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};

use tempfile::TempDir;

use crate::command::{Ran, command, run, sterna};
use crate::project::Project;
use crate::running::Running;

/// Lines that a command has written to stdout.
struct Lines(BufReader<std::process::ChildStdout>);

impl Lines {
    fn of(running: &mut Running) -> Self {
        Self(BufReader::new(running.child.stdout.take().unwrap()))
    }

    #[track_caller]
    fn next(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

#[track_caller]
fn free_tables(url: &str) -> String {
    let ran = sterna(&format!("call {url} free_tables day=friday"));
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.stdout
}

/// The host and the port of a URL.
fn authority(url: &str) -> &str {
    let rest = url.strip_prefix("http://").unwrap();
    rest.split('/').next().unwrap()
}

#[test]
fn a_change_is_built_and_served_and_a_mistake_leaves_the_old_server() {
    let project = Project::new("table-dev", "");
    // As after a clone: the repository has no keys.
    std::fs::remove_file(project.path().join("keys.toml")).unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut dev = Running::started(&mut project.dev(port), "keys.toml made, with key");
    let mut lines = Lines::of(&mut dev);
    let url = lines.next();
    assert_eq!(url, format!("http://127.0.0.1:{port}/mcp"));
    let inspector = lines.next();
    assert!(inspector.contains("/?ticket="), "{inspector}");
    dev.says("waiting for changes");
    assert_eq!(free_tables(&url), "8 of 8 tables are free on Friday.\n");

    let folder = TempDir::new().unwrap();
    let save = |args: &[&str]| -> Ran {
        let mut command = command();
        run(command.current_dir(folder.path()).args(args), "")
    };
    let call = ["call", &url, "book", "day=friday", "--no-input"];
    let paused = save(&[&call[..], &["--save", "call.json"]].concat());
    assert_eq!(paused.code, 4, "{paused:?}");

    project.edit("src/lib.rs", "usize = 8;", "usize = \"nine\";");
    dev.says("mismatched types");
    dev.says("the server of before keeps running");
    assert_eq!(free_tables(&url), "8 of 8 tables are free on Friday.\n");

    project.edit("src/lib.rs", "\"nine\"", "9");
    dev.says("listens on");
    assert_eq!(free_tables(&url), "9 of 9 tables are free on Friday.\n");
    // The key is the same, so the call goes on where the old server asked.
    let answers = ["--answer", "party.name=Ada", "--answer", "party.guests:=2"];
    let resumed = save(&[&["resume", "call.json"], &answers[..]].concat());
    assert_eq!(
        resumed.stdout, "A table for 2 on Friday, Ada.\n",
        "{resumed:?}"
    );

    let (code, words) = dev.signal("-TERM");
    assert_eq!(code, Some(0), "{words}");
    for gone in [authority(&url), authority(&inspector)] {
        assert!(TcpStream::connect(gone).is_err(), "{gone} is still there");
    }
    project.done();
}

#[test]
fn a_server_on_standard_streams_is_run_by_the_inspector() {
    let project = Project::new("table-dev-stdio", "--stdio");
    let sign = "speaks on standard input and output";
    let mut dev = Running::started(&mut project.dev(0), sign);
    let inspector = Lines::of(&mut dev).next();
    assert!(inspector.contains("/?ticket="), "{inspector}");
    dev.says("waiting for changes");
    project.edit("src/lib.rs", "usize = 8;", "usize = 9;");
    dev.says("lib.rs has changed; building");
    dev.says("Connect again");
    let (code, words) = dev.interrupt();
    assert_eq!(code, Some(0), "{words}");
    let gone = authority(&inspector);
    assert!(TcpStream::connect(gone).is_err(), "{gone} is still there");
    project.done();
}

#[test]
fn a_folder_without_a_project_says_how_to_make_one() {
    let folder = TempDir::new().unwrap();
    let mut dev = command();
    for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME"] {
        if let Some(value) = std::env::var_os(name) {
            dev.env(name, value);
        }
    }
    let ran = run(dev.current_dir(folder.path()).arg("dev"), "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.stderr.contains("could not find `Cargo.toml`"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("`sterna new` makes one"), "{ran:?}");
}
