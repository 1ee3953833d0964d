//! A server process that says where it listens.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

/// A running server, stopped when dropped.
pub(crate) struct Listening {
    child: Child,
    url: String,
}

impl Listening {
    /// Starts `command` and waits for its line `listening on URL`.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let stdout = child.stdout.take().expect("stdout was piped");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let Some(url) = line.trim().strip_prefix("listening on ") else {
            child.kill().ok();
            child.wait().ok();
            bail!("{command:?} said `{}` instead of its address", line.trim());
        };
        let url = url.to_owned();
        Ok(Self { child, url })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
