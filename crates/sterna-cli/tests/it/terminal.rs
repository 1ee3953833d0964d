//! A user in front of a real pseudo-terminal.

use std::process::Command;
use std::time::Duration;

use expectrl::session::OsSession;
use expectrl::{Eof, Expect as _, Session};

/// A user who runs one command.
pub(crate) struct User {
    terminal: OsSession,
}

pub(crate) const ENTER: &str = "\r";
pub(crate) const ESC: &str = "\u{1b}";
pub(crate) const DOWN: &str = "\u{1b}[B";
pub(crate) const CTRL_C: &str = "\u{3}";

impl User {
    /// Runs `sterna` with `args`, without the settings of this machine.
    pub(crate) fn runs(args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sterna"));
        command.args(args);
        Self::types_in(command)
    }

    /// Runs any command.
    pub(crate) fn types_in(mut command: Command) -> Self {
        command
            .env("XDG_CONFIG_HOME", "/nonexistent")
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .env("BROWSER", "true");
        let mut terminal = Session::spawn(command).unwrap();
        // As terminals of people have it.
        terminal.get_process_mut().set_echo(true, None).unwrap();
        terminal.set_expect_timeout(Some(Duration::from_secs(60)));
        Self { terminal }
    }

    #[track_caller]
    pub(crate) fn sees(mut self, text: &str) -> Self {
        if let Err(error) = self.terminal.expect(text) {
            panic!("{text:?} was not shown: {error}");
        }
        self
    }

    /// Waits for `text`, interrupts the command and returns all that was shown.
    #[track_caller]
    pub(crate) fn sees_and_stops(mut self, text: &str) -> String {
        let mut shown = match self.terminal.expect(text) {
            Ok(found) => found.as_bytes().to_vec(),
            Err(error) => panic!("{text:?} was not shown: {error}"),
        };
        self.terminal.send(CTRL_C).unwrap();
        let rest = self.terminal.expect(Eof).unwrap();
        shown.extend_from_slice(rest.as_bytes());
        String::from_utf8_lossy(&shown).into_owned()
    }

    pub(crate) fn types(mut self, keys: &str) -> Self {
        self.terminal.send(keys).unwrap();
        self
    }

    /// Has a signal sent to the command, as `kill -INT` does.
    pub(crate) fn hears_a_signal(self) -> Self {
        let id = self.terminal.get_process().pid().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(sent.success());
        self
    }

    /// A prompt turns the echo off.
    #[track_caller]
    pub(crate) fn has_its_terminal_back(self) -> Self {
        assert!(self.terminal.get_process().get_echo().unwrap());
        self
    }

    #[track_caller]
    pub(crate) fn ends_with(mut self, code: i32) {
        self.terminal.expect(Eof).unwrap();
        let status = self.terminal.get_process().wait().unwrap();
        assert_eq!(
            format!("{status:?}"),
            format!("Exited(Pid({}), {code})", self.terminal.get_process().pid())
        );
    }
}
