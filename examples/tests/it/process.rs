//! Programs of ours, run as a user would run them.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A server in a process of its own, killed when it is dropped.
pub(crate) struct Process {
    child: Child,
    /// Where it listens, `127.0.0.1:port`.
    pub(crate) address: String,
}

impl Process {
    /// Starts `program` and waits for its first line, which says where it
    /// listens.
    pub(crate) fn serve(program: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .and_then(|rest| rest.strip_suffix("/mcp"));
        Self {
            address: address.expect("a line that says where").to_owned(),
            child,
        }
    }

    /// Ends it as a power cut would: the system sends SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have been killed already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
