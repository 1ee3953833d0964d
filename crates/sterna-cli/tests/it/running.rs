//! A command that is not waited for.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStderr, Stdio};

use crate::command::{command, run};

/// A command that is under way.
pub(crate) struct Running {
    pub(crate) child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Running {
    /// Starts a command and waits until it says `sign`.
    #[track_caller]
    pub(crate) fn until(args: &[&str], sign: &str) -> Self {
        let mut child = command()
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains(sign) {
            line.clear();
            assert_ne!(
                stderr.read_line(&mut line).unwrap(),
                0,
                "{sign} was not said"
            );
        }
        Self { child, stderr }
    }

    /// Interrupts it; its exit code and its last words.
    pub(crate) fn interrupt(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        run(std::process::Command::new("kill").args(["-INT", &id]), "");
        let mut words = String::new();
        self.stderr.read_to_string(&mut words).unwrap();
        (self.child.wait().unwrap().code(), words)
    }
}
