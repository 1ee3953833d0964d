//! A command that is not waited for.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::command::{command, run};

/// A command that is under way.
pub(crate) struct Running {
    pub(crate) child: Child,
    stderr: Receiver<String>,
}

impl Running {
    /// Starts `sterna` with `args` and waits until it says `sign`.
    #[track_caller]
    pub(crate) fn until(args: &[&str], sign: &str) -> Self {
        Self::started(command().args(args), sign)
    }

    /// Starts a command and waits until it says `sign`.
    #[track_caller]
    pub(crate) fn started(command: &mut Command, sign: &str) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let lines = stderr.lines().map_while(Result::ok);
            // A test that has ended wants to hear no more.
            lines
                .map(|line| sender.send(line))
                .take_while(Result::is_ok)
                .count();
        });
        let running = Self {
            child,
            stderr: receiver,
        };
        running.says(sign);
        running
    }

    /// Waits until it says `sign`.
    #[track_caller]
    pub(crate) fn says(&self, sign: &str) {
        let mut said = String::new();
        loop {
            let line = self.stderr.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|error| panic!("no {sign:?}, {error}: {said}"));
            if line.contains(sign) {
                return;
            }
            said += &(line + "\n");
        }
    }

    /// Interrupts it; its exit code and its last words.
    pub(crate) fn interrupt(self) -> (Option<i32>, String) {
        self.signal("-INT")
    }

    /// Sends it a signal; its exit code and its last words.
    pub(crate) fn signal(mut self, signal: &str) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        run(Command::new("kill").args([signal, &id]), "");
        let words: String = self.stderr.iter().map(|line| line + "\n").collect();
        (self.child.wait().unwrap().code(), words)
    }
}

/// The longest that a command is waited for: it may build a server, after other
/// tests that build into the same folder.
const PATIENCE: Duration = Duration::from_secs(600);
