//! Instances: processes that come and go, and where they are at the moment.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};

use crate::Flaw;
use crate::dice::Dice;

/// All instances. Those who are being restarted are where they last were.
pub(crate) struct Instances {
    stores: Vec<String>,
    effects: String,
    defects: Defects,
    running: Vec<Mutex<Running>>,
}

/// What instances do that they should not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defects {
    /// What is wrong with their engine.
    pub(crate) flaw: Option<Flaw>,
    /// They claim effects although a failover forgets the claims.
    pub(crate) may_repeat_effects: bool,
}

struct Running {
    child: Child,
    address: SocketAddr,
}

impl Instances {
    pub(crate) fn start(
        count: usize,
        stores: &[String],
        effects: &Path,
        defects: Defects,
    ) -> Result<Self> {
        let mut instances = Self {
            stores: stores.to_vec(),
            effects: effects.display().to_string(),
            defects,
            running: Vec::new(),
        };
        for _ in 0..count {
            let running = instances.spawn()?;
            instances.running.push(Mutex::new(running));
        }
        Ok(instances)
    }

    pub(crate) fn count(&self) -> usize {
        self.running.len()
    }

    /// Where one of them is.
    pub(crate) fn any(&self, dice: &mut Dice) -> SocketAddr {
        self.lock(dice.below(self.running.len())).address
    }

    /// Kills an instance as the kernel would, and starts another in its place.
    /// Says which process it was.
    pub(crate) fn replace(&self, at: usize) -> Result<u32> {
        let mut running = self.lock(at);
        let process = running.child.id();
        running.child.kill()?;
        running.child.wait()?;
        *running = self.spawn()?;
        Ok(process)
    }

    /// Sends a signal by its name. Says to which process.
    pub(crate) fn signal(&self, at: usize, signal: &str) -> Result<u32> {
        let process = self.lock(at).child.id();
        let pid = process.to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status()?;
        anyhow::ensure!(sent.success(), "kill -s {signal} {pid}");
        Ok(process)
    }

    fn spawn(&self) -> Result<Running> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["serve", "--effects", &self.effects]);
        for store in &self.stores {
            command.args(["--store", store]);
        }
        if let Some(flaw) = self.defects.flaw {
            command.args(["--flaw", &flaw.name()]);
        }
        if self.defects.may_repeat_effects {
            command.arg("--may-repeat-effects");
        }
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .context("an instance cannot be started")?;
        let mut line = String::new();
        let said = child.stdout.take().context("stdout was piped")?;
        BufReader::new(said).read_line(&mut line)?;
        let address = line.trim().parse();
        let address = address.with_context(|| format!("an instance said `{line}`"))?;
        Ok(Running { child, address })
    }

    fn lock(&self, at: usize) -> MutexGuard<'_, Running> {
        let running = &self.running[at];
        running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Instances {
    fn drop(&mut self) {
        for at in 0..self.running.len() {
            let mut running = self.lock(at);
            // Nothing is left to be done about one that does not die.
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
    }
}
