//! The server processes: started, killed, and replaced by another build.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// Server processes that share a key file and, if they are told to, a store.
#[derive(Debug)]
pub(super) struct Fleet {
    recipe: Recipe,
    replicas: Vec<ReplicaProcess>,
}

/// Arguments of a replica.
#[derive(Debug)]
struct Recipe {
    build: u8,
    keys: PathBuf,
    store: Option<PathBuf>,
}

#[derive(Debug)]
struct ReplicaProcess {
    name: char,
    address: SocketAddr,
    process: Child,
}

impl Fleet {
    /// Starts A, B and C, all of the first build, with nothing but the keys.
    pub(super) async fn start(keys: &Path) -> Result<Self> {
        let recipe = Recipe {
            build: 1,
            keys: keys.to_owned(),
            store: None,
        };
        let mut fleet = Self {
            recipe,
            replicas: Vec::new(),
        };
        fleet.start_all().await?;
        Ok(fleet)
    }

    /// Names and addresses of the replicas.
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
        let position = position.context("there is no such replica")?;
        self.replicas.remove(position).kill().await
    }

    /// Kills every replica as `kill -9` does.
    pub(super) async fn kill_all(&mut self) -> Result<()> {
        for replica in self.replicas.drain(..) {
            replica.kill().await?;
        }
        Ok(())
    }

    /// Replaces every replica by one of another build.
    pub(super) async fn upgrade(&mut self, build: u8) -> Result<()> {
        self.recipe.build = build;
        for replica in &mut self.replicas {
            let new = ReplicaProcess::start(replica.name, &self.recipe).await?;
            std::mem::replace(replica, new).kill().await?;
        }
        Ok(())
    }

    /// Starts A, B and C anew, with a store in the folder `store`.
    pub(super) async fn restart_on(&mut self, store: &Path) -> Result<()> {
        self.kill_all().await?;
        self.recipe.store = Some(store.to_owned());
        self.start_all().await
    }

    async fn start_all(&mut self) -> Result<()> {
        for name in ['A', 'B', 'C'] {
            let replica = ReplicaProcess::start(name, &self.recipe).await?;
            self.replicas.push(replica);
        }
        Ok(())
    }
}

impl ReplicaProcess {
    /// Starts this same binary as a server and waits until it listens.
    async fn start(name: char, recipe: &Recipe) -> Result<Self> {
        let program = std::env::current_exe().context("this binary cannot be found")?;
        let mut command = Command::new(program);
        command
            .args(["demo-replica", "--name", &name.to_string()])
            .args(["--build", &recipe.build.to_string(), "--keys"])
            .arg(&recipe.keys);
        if let Some(folder) = &recipe.store {
            command.arg("--store").arg(folder);
        }
        let mut process = command
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

    async fn kill(mut self) -> Result<()> {
        let killed = self.process.kill().await;
        killed.context("the replica cannot be killed")
    }
}
