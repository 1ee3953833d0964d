//! A server in a process of its own, and what the kernel says about it.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// A running server; dropping it ends it.
pub struct Process {
    child: Child,
    pub address: SocketAddr,
}

impl Process {
    /// Starts `command`, whose first line says where it listens.
    pub fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let stdout = child.stdout.take().context("a pipe")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .map(|line| line.strip_suffix("/mcp").unwrap_or(line))
            .with_context(|| format!("{command:?} said {line:?}"))?;
        let address = address.parse()?;
        Ok(Self { child, address })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// CPU time of all threads so far, in seconds.
    pub fn cpu(&self) -> Result<f64> {
        let mut nanos = 0;
        for thread in std::fs::read_dir(format!("/proc/{}/task", self.id()))? {
            let path = thread?.path().join("schedstat");
            let text = std::fs::read_to_string(path)?;
            let spent = text.split(' ').next().unwrap_or_default();
            nanos += spent.parse::<u64>()?;
        }
        Ok(nanos as f64 / 1e9)
    }

    /// Resident memory in KiB.
    pub fn rss(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let size = line.context("VmRSS")?.trim().trim_end_matches(" kB");
        Ok(size.parse()?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
