//! The server under test as a process.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::good;
use crate::outcome::Outcome;
use crate::wire::Wire;

/// A running server, with a gigabyte of address space. Dropping it ends it.
#[derive(Debug)]
pub struct Subject {
    child: Child,
    stdout: BufReader<ChildStdout>,
    address: SocketAddr,
}

/// What a server has done by its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastWords {
    /// Slow calls that were begun.
    pub begun: u64,
    /// Slow calls that were finished.
    pub finished: u64,
    /// Connections that were cut.
    pub cut: u64,
}

impl Subject {
    /// Starts `program serve` with `options`.
    ///
    /// # Errors
    ///
    /// It does not start, or does not say where it listens.
    pub fn start(program: &Path, options: &[&str]) -> Result<Self> {
        let mut child = limited(program)
            .arg("serve")
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().context("there is a pipe")?;
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let address = line.trim().strip_prefix("listening on http://");
        let address = address.and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.with_context(|| format!("`{line}` is no address"))?;
        let address = address.parse()?;
        Ok(Self {
            child,
            stdout,
            address,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The memory it holds, in KiB.
    ///
    /// # Errors
    ///
    /// It is not running any more.
    pub fn resident(&self) -> Result<u64> {
        memory(&self.child, "VmRSS:")
    }

    /// The most memory that it has held at once, in KiB.
    ///
    /// # Errors
    ///
    /// It is not running any more.
    pub fn peak(&self) -> Result<u64> {
        memory(&self.child, "VmHWM:")
    }

    /// Sends a good request on a connection of its own.
    ///
    /// # Errors
    ///
    /// It was not answered as it should be.
    pub fn must_be_well(&self) -> Result<()> {
        let mut wire = Wire::connect(self.address)?;
        wire.send(&good::weather().to_bytes())?;
        let outcome = Outcome::read(&mut wire);
        ensure!(outcome.label() == "200 result", "{}", outcome.label());
        Ok(())
    }

    /// Has it let go of all calls that keep their place.
    ///
    /// # Errors
    ///
    /// It does not listen any more.
    pub fn release(&mut self) -> Result<()> {
        let stdin = self.child.stdin.as_mut().context("it was told to stop")?;
        Ok(stdin.write_all(b"r")?)
    }

    /// Tells it to stop, without waiting.
    pub fn tell_to_stop(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Waits for its end.
    ///
    /// # Errors
    ///
    /// It did not end well.
    pub fn last_words(mut self) -> Result<LastWords> {
        self.tell_to_stop();
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        ensure!(self.child.wait()?.success(), "it ended badly");
        let mut numbers = line.split_whitespace().map(str::parse);
        let mut next = || numbers.next().context("there are three numbers");
        Ok(LastWords {
            begun: next()??,
            finished: next()??,
            cut: next()??,
        })
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        // If it is gone already, so much the better.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `program` in a process that may have a gigabyte of address space: an
/// allocation beyond it fails, and with it the process.
pub(crate) fn limited(program: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("ulimit -v {ADDRESS_SPACE} && exec \"$0\" \"$@\""))
        .arg(program);
    command
}

/// In KiB.
const ADDRESS_SPACE: u64 = 1 << 20;

/// The memory that a process holds, in KiB, by its name in `/proc`.
pub(crate) fn memory(process: &Child, name: &str) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let size = line.and_then(|line| line.split_whitespace().next());
    Ok(size.context("a running process has memory")?.parse()?)
}
