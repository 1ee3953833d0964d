//! Engines in processes of their own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::str::FromStr;

use anyhow::{Context, Result, ensure};
use postgres_here::Postgres;

use super::load::{Kind, Load, Loaded};

/// The command line of an engine.
#[derive(Clone, Debug)]
pub(super) struct Command {
    pub(super) name: String,
    line: String,
}

impl Command {
    pub(super) fn needs_database(&self) -> bool {
        self.line.contains("{database}")
    }
}

impl FromStr for Command {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, line) = text
            .split_once('=')
            .context("not of the form name=command")?;
        Ok(Self {
            name: name.to_owned(),
            line: line.to_owned(),
        })
    }
}

/// A process that takes loads as lines of JSON and answers with lines of JSON.
/// It ends when its input ends.
pub(super) struct Other {
    child: Child,
    output: BufReader<ChildStdout>,
    kinds: Vec<Kind>,
}

impl Other {
    /// Starts it and waits until it can be put under load.
    pub(super) fn start(
        command: &Command,
        server: &Postgres,
        database: Option<&str>,
        folder: &Path,
    ) -> Result<Self> {
        let folder = folder.join(&command.name);
        std::fs::create_dir_all(&folder)?;
        // Node's drivers take no list of key=value.
        let name = database.and(Some(&*command.name)).unwrap_or_default();
        let socket = server.folder().display();
        let url = format!("postgresql://sterna@localhost/{name}?host={socket}");
        let line = command.line.replace("{database}", &url);
        let line = line.replace("{folder}", &folder.display().to_string());
        let mut words = line.split_whitespace();
        let program = words.next().context("no command")?;
        let mut child = std::process::Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().context("stdout was piped")?;
        let mut other = Self {
            child,
            output: BufReader::new(output),
            kinds: Vec::new(),
        };
        other.kinds = serde_json::from_str(&other.line()?)
            .with_context(|| format!("{} did not start", command.name))?;
        Ok(other)
    }

    pub(super) fn knows(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    pub(super) fn run(&mut self, load: Load) -> Result<Loaded> {
        let input = self.child.stdin.as_mut().context("stdin was piped")?;
        writeln!(input, "{}", serde_json::to_string(&load)?)?;
        Ok(serde_json::from_str(&self.line()?)?)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line)?;
        ensure!(read > 0, "the engine ended");
        Ok(line)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // The end of its input ends it, and what it has started.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
