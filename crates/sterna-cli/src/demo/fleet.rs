//! The server processes: started, killed, and replaced by another build.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// Server processes that share a key file and nothing else.
#[derive(Debug)]
pub(super) struct Fleet {
    keys: PathBuf,
    replicas: Vec<Replica>,
}

#[derive(Debug)]
struct Replica {
    name: char,
    address: SocketAddr,
    process: Child,
}

impl Fleet {
    /// Starts A, B and C, all of the first build.
    pub(super) async fn start(keys: &Path) -> Result<Self> {
        let mut fleet = Self {
            keys: keys.to_owned(),
            replicas: Vec::new(),
        };
        for name in ['A', 'B', 'C'] {
            let replica = Replica::start(name, 1, keys).await?;
            fleet.replicas.push(replica);
        }
        Ok(fleet)
    }

    /// Who listens where.
    pub(super) fn addresses(&self) -> Vec<(char, SocketAddr)> {
        let replicas = self.replicas.iter();
        replicas
            .map(|replica| (replica.name, replica.address))
            .collect()
    }

    /// Kills a replica as `kill -9` does.
    pub(super) async fn kill(&mut self, name: char) -> Result<()> {
        let position = self
            .replicas
            .iter()
            .position(|replica| replica.name == name);
        let mut replica = self
            .replicas
            .remove(position.context("there is no such replica")?);
        replica
            .process
            .kill()
            .await
            .context("the replica cannot be killed")
    }

    /// Replaces every replica by one of another build.
    pub(super) async fn upgrade(&mut self, build: u8) -> Result<()> {
        for replica in &mut self.replicas {
            let new = Replica::start(replica.name, build, &self.keys).await?;
            let mut old = std::mem::replace(replica, new);
            old.process
                .kill()
                .await
                .context("the replica cannot be killed")?;
        }
        Ok(())
    }
}

impl Replica {
    /// Starts this same binary as a server and waits until it listens.
    async fn start(name: char, build: u8, keys: &Path) -> Result<Self> {
        let program = std::env::current_exe().context("this binary cannot be found")?;
        let mut process = Command::new(program)
            .args(["demo-replica", "--name", &name.to_string()])
            .args(["--build", &build.to_string(), "--keys"])
            .arg(keys)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("a replica cannot be started")?;
        let stdout = process.stdout.take().context("a replica has no stdout")?;
        let mut lines = BufReader::new(stdout).lines();
        let address = lines
            .next_line()
            .await?
            .context("a replica ended at once")?;
        let address = address.parse().context("a replica says no address")?;
        Ok(Self {
            name,
            address,
            process,
        })
    }
}
