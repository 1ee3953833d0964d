//! Calls of servers of the earlier era through replicas of the gateway, each of which
//! is killed after its round: the client carries the call, or a replica holds it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::older::{
    ANSWER, Everything, Ran, Running, effects, ended, fastmcp, free_port, saved_in, sterna,
    wait_for, wait_for_port,
};
use super::peer;
use crate::listening::Listening;

pub(super) fn with_everything() -> Result<()> {
    let Some(server) = Everything::start()? else {
        return Ok(());
    };
    let fleet = Fleet::of("everything", server.url())?;
    ensure!(
        fleet.survival()? == "carried",
        "the server keeps an event store"
    );
    let (one, two) = (fleet.replica()?, fleet.replica()?);
    let call = fleet.save(&one, &["trigger-elicitation-request"])?;
    one.kill()?;
    let answers = ["--answer", "form.name=Ada", "--answer", "form.check:=true"];
    for _ in 0..2 {
        let ran = fleet.resume(&call, &two, &answers)?;
        ensure!(ran.code == 0 && ran.stdout.contains("Ada"), "{ran:?}");
    }
    println!("server-everything behind the gateway: carried over the death of a replica");
    Ok(())
}

pub(super) fn with_fastmcp() -> Result<()> {
    let Some(python) = peer::python_with("fastmcp")? else {
        return Ok(());
    };
    carried(&fastmcp(&python, &["--events"])?)?;
    held(&fastmcp(&python, &[])?)?;
    println!(
        "FastMCP behind the gateway: carried over the death of two replicas, held at one of two"
    );
    Ok(())
}

fn carried(server: &Listening) -> Result<()> {
    let fleet = Fleet::of("fastmcp", server.url())?;
    ensure!(
        fleet.survival()? == "carried",
        "the server keeps an event store"
    );
    let (one, two, three) = (fleet.replica()?, fleet.replica()?, fleet.replica()?);
    let call = fleet.save(&one, &["deploy", "service=web", "seconds:=3"])?;
    one.kill()?;
    // The second replica is killed after it has sent the answer.
    let mut resuming = fleet.resuming(&call, &two, &ANSWER)?;
    let mut resuming = Running(
        resuming
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?,
    );
    wait_for("the answer has its effect", || {
        effects(server).is_ok_and(|done| done == "1")
    })?;
    ensure!(resuming.0.try_wait()?.is_none(), "the tool takes 3 seconds");
    two.kill()?;
    ensure!(!resuming.0.wait()?.success(), "its gateway was killed");
    for _ in 0..2 {
        let ran = fleet.resume(&call, &three, &ANSWER)?;
        let expected = "web deployed: tested\n";
        ensure!(ran.code == 0 && ran.stdout == expected, "{ran:?}");
    }
    ensure!(
        effects(server)? == "1",
        "one effect, however often it is retried"
    );
    Ok(())
}

/// Without an event store: the replicas share a store instead.
fn held(server: &Listening) -> Result<()> {
    let fleet = Fleet::of("fastmcp-plain", server.url())?.with_store();
    let survival = fleet.survival()?;
    ensure!(survival == "held", "{survival} without an event store");
    let (one, two) = (fleet.replica()?, fleet.replica()?);
    let call = fleet.save(&one, &["deploy", "service=web"])?;
    for _ in 0..2 {
        let ran = fleet.resume(&call, &two, &ANSWER)?;
        let expected = "web deployed: tested\n";
        ensure!(ran.code == 0 && ran.stdout == expected, "{ran:?}");
    }
    ensure!(effects(server)? == "1", "one effect, at whichever replica");
    let call = fleet.save(&one, &["deploy", "service=web"])?;
    one.kill()?;
    let ran = fleet.resume(&call, &two, &ANSWER)?;
    let is_told = ran.stderr.contains("got none of the answers");
    ensure!(ran.code == 1 && is_told, "{ran:?}");
    ensure!(effects(server)? == "1", "and nothing has happened");
    Ok(())
}

/// Replicas of the gateway in front of one server, with one file of keys.
struct Fleet {
    folder: PathBuf,
    store: Option<PathBuf>,
}

/// One replica.
struct Replica {
    process: Running,
    url: String,
}

impl Fleet {
    fn of(name: &str, url: &str) -> Result<Self> {
        let folder = saved_in("gateway").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let servers = json!({"mcpServers": {"only": {"url": url}}});
        fs::write(folder.join("mcp.json"), servers.to_string())?;
        let fleet = Self {
            folder,
            store: None,
        };
        let mut keys = sterna();
        keys.args(["keys", "new"]).arg(fleet.file("keys.toml"));
        let ran = ended(keys)?;
        ensure!(ran.code == 0, "{ran:?}");
        Ok(fleet)
    }

    /// The same with a store that the replicas share.
    fn with_store(mut self) -> Self {
        self.store = Some(self.file("store.db"));
        self
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn replica(&self) -> Result<Replica> {
        let port = free_port()?;
        let mut command = sterna();
        command.arg("gateway").arg(self.file("mcp.json"));
        command.args(["--listen", &format!("127.0.0.1:{port}")]);
        command.arg("--key-file").arg(self.file("keys.toml"));
        if let Some(store) = &self.store {
            command.arg("--store").arg(store);
        }
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let process = Running(command.spawn()?);
        wait_for_port("a gateway listens", port)?;
        Ok(Replica {
            process,
            url: format!("http://127.0.0.1:{port}/mcp"),
        })
    }

    /// What `sterna gateway check` says of paused calls.
    fn survival(&self) -> Result<String> {
        let mut command = sterna();
        command.args(["gateway", "check", "--json"]);
        command.arg(self.file("mcp.json"));
        let ran = ended(command)?;
        let found: Value = serde_json::from_str(&ran.stdout)?;
        Ok(found["servers"][0]["survival"]
            .as_str()
            .unwrap_or_default()
            .to_owned())
    }

    /// Makes a call that asks, and saves it.
    fn save(&self, at: &Replica, call: &[&str]) -> Result<PathBuf> {
        let file = self.file("call.json");
        let mut command = sterna();
        command.args(["call", &at.url]).args(call);
        command.args(["--no-input", "--save"]).arg(&file);
        let ran = ended(command)?;
        ensure!(ran.code == 4 && ran.stdout.contains("saved to"), "{ran:?}");
        Ok(file)
    }

    /// The command that brings a call to a replica, whichever it was saved at.
    fn resuming(
        &self,
        call: &Path,
        at: &Replica,
        answers: &[&str],
    ) -> Result<std::process::Command> {
        let mut saved: Value = serde_json::from_str(&fs::read_to_string(call)?)?;
        saved["server"] = Value::from(at.url.as_str());
        let moved = self.file("moved.json");
        fs::write(&moved, saved.to_string())?;
        let mut command = sterna();
        command.arg("resume").arg(moved).args(answers);
        Ok(command)
    }

    fn resume(&self, call: &Path, at: &Replica, answers: &[&str]) -> Result<Ran> {
        ended(self.resuming(call, at, answers)?)
    }
}

impl Replica {
    fn kill(mut self) -> Result<()> {
        self.process.0.kill()?;
        self.process.0.wait()?;
        Ok(())
    }
}
