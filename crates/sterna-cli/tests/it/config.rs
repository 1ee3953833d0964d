//! Flags over environment over file.

use std::process::Command;

use tempfile::TempDir;

use crate::command::{Ran, command, run};
use crate::server;

/// A command with a configuration file.
struct Configured {
    folder: TempDir,
    command: Command,
}

impl Configured {
    fn new(file: &str) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("sterna")).unwrap();
        let mut command = command();
        command.env("XDG_CONFIG_HOME", folder.path());
        let configured = Self { folder, command };
        configured.says(file);
        configured
    }

    fn says(&self, file: &str) {
        std::fs::write(self.folder.path().join("sterna/config.toml"), file).unwrap();
    }

    fn run(&mut self) -> Ran {
        run(&mut self.command, "")
    }
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let mut call = Configured::new("sampler = \"echo from the file\"\n");
    call.command.args(["call", &server::start(), "write"]);
    assert_eq!(call.run().stdout, "echo: from the file\n");
    call.command
        .env("STERNA_SAMPLER", "echo from the environment");
    assert_eq!(call.run().stdout, "echo: from the environment\n");
    call.command.args(["--sampler", "echo from the flag"]);
    assert_eq!(call.run().stdout, "echo: from the flag\n");
}

#[test]
fn the_cap_on_rounds_can_be_set_everywhere() {
    let mut call = Configured::new("max_rounds = 1\npause = \"1ms\"\n");
    let url = server::start();
    call.command.args(["call", &url, "deploy", "service=a"]);
    call.command
        .args(["--answer", "reason=b", "--answer", "owner=c"]);
    assert_eq!(call.run().code, 1);
    call.command.env("STERNA_MAX_ROUNDS", "2");
    assert_eq!(call.run().code, 0);
    call.command.args(["--max-rounds", "1"]);
    assert_eq!(call.run().code, 1);
    call.command.env("STERNA_MAX_ROUNDS", "many");
    assert_eq!(call.run().code, 2);
}

#[test]
fn a_server_that_asks_nothing_is_called_again_at_the_pace_that_was_set() {
    let mut call = Configured::new("pause = \"1h\"\n");
    call.command
        .args(["call", &server::start_workshop(), "queue"]);
    call.command.args(["--pause", "1ms"]);
    assert_eq!(call.run().shown(), "your turn\nexit 0\n");
}

#[test]
fn how_long_a_server_may_be_silent_can_be_set_everywhere() {
    let mut call = Configured::new("timeout = \"300ms\"\n");
    call.command.args(["call", &server::start(), "sleep"]);
    assert_eq!(call.run().code, 124);
    call.says("timeout = \"1h\"\n");
    call.command.env("STERNA_TIMEOUT", "300ms");
    assert_eq!(call.run().code, 124);
    call.command
        .env("STERNA_TIMEOUT", "1h")
        .args(["--timeout", "300ms"]);
    assert_eq!(call.run().code, 124);
}

#[test]
fn tokens_and_header_fields_come_from_files_and_the_environment_alone() {
    let token = "a-token-that-is-never-guessed-0123456789";
    let folder = TempDir::new().unwrap();
    let (bearer, headers) = (folder.path().join("bearer"), folder.path().join("headers"));
    std::fs::write(&bearer, token).unwrap();
    std::fs::write(&headers, format!("# mine\nAuthorization: Bearer {token}\n")).unwrap();
    let url = server::start_guarded(token);
    for (field, path) in [("bearer_file", &bearer), ("header_file", &headers)] {
        let path = path.display().to_string();
        let mut call = Configured::new("");
        call.command.args(["call", &url, "echo", "text=a"]);
        assert_eq!(call.run().code, 6);
        call.says(&format!("[{field}s]\n\"{url}\" = {path:?}\n"));
        assert_eq!(call.run().code, 0, "{field}s in the file");
        call.says("");
        let name = format!("STERNA_{}", field.to_uppercase());
        call.command.env(&name, &path);
        assert_eq!(call.run().code, 0, "{name}");
        call.command.env_remove(&name);
        call.command
            .arg(format!("--{}", field.replace('_', "-")))
            .arg(&path);
        assert_eq!(call.run().code, 0, "{field} as a flag");
    }
    let mut call = Configured::new("");
    call.command.args(["call", &url, "echo", "--bearer", token]);
    assert_eq!(call.run().code, 2, "no flag takes the token itself");
}

#[test]
fn a_misspelled_field_is_an_error() {
    let mut list = Configured::new("smapler = 1\n");
    list.command.args(["list", "http://127.0.0.1:1/mcp"]);
    let ran = list.run();
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("unknown field `smapler`"), "{ran:?}");
}
