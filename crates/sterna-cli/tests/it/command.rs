//! Running the command and looking at what it says.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

/// The result of running the command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The one JSON value on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Everything the user sees, for an expectation.
    pub(crate) fn shown(&self) -> String {
        format!("{}{}exit {}\n", self.stdout, self.stderr, self.code)
    }
}

/// The command, without the settings of this machine.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sterna"));
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("XDG_CONFIG_HOME", "/nonexistent");
    // `cargo xtask faults` has the command break in one place.
    if let Some(fault) = std::env::var_os("STERNA_FAULT") {
        command.env("STERNA_FAULT", fault);
    }
    command
}

/// Runs `sterna` with `args`, split at spaces.
#[track_caller]
pub(crate) fn sterna(args: &str) -> Ran {
    run(command().args(args.split(' ')), "")
}

/// Runs `command` with `input` on stdin.
#[track_caller]
pub(crate) fn run(command: &mut Command, input: &str) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that reads no input may be gone by now.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
