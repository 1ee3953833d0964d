use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::server;

/// An inspector in a process of its own: `sterna inspect`.
#[derive(Debug)]
pub(super) struct InspectorProcess {
    child: Child,
    url: String,
    inspected: Inspected,
}

/// A server that is inspected.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inspected {
    /// The program and its arguments, which the inspector starts.
    Command(Vec<String>),
    Url(String),
}

#[derive(Deserialize)]
struct FirstLine {
    url: String,
}

impl InspectorProcess {
    /// Starts an inspector that opens request state with `keys`.
    pub(super) async fn start(
        inspected: Inspected,
        keys: Option<PathBuf>,
        no_open: bool,
    ) -> Result<Self> {
        let program = std::env::current_exe().context("this program cannot be found")?;
        let mut command = Command::new(program);
        command.args(["--json", "--quiet", "inspect"]);
        if let Some(keys) = keys {
            command.arg("--keys").arg(keys);
        }
        if no_open {
            command.arg("--no-open");
        }
        match &inspected {
            Inspected::Url(url) => command.arg(url),
            Inspected::Command(words) => command.arg("--").args(words),
        };
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().context("it cannot be started")?;
        let stdout = child.stdout.take().context("stdout was piped")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).await?;
        let FirstLine { url } =
            serde_json::from_str(&line).context("it ended before it had an address")?;
        Ok(Self {
            child,
            url,
            inspected,
        })
    }

    /// The address of its first page, good once.
    pub(super) fn url(&self) -> String {
        self.url.clone()
    }

    /// Returns `true` if it inspects the server at `url`.
    pub(super) fn shows(&self, url: &str) -> bool {
        matches!(&self.inspected, Inspected::Url(shown) if shown == url)
    }

    pub(super) async fn end(mut self) {
        // One that has ended by itself is as good.
        let _ = server::end(&mut self.child).await;
    }
}
