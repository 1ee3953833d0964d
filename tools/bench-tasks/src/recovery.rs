//! What a crash with many open tasks costs.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use sterna_server::TaskConfig;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::front::{Progress, service};
use crate::place::Place;

/// Has another process work on every task at once, kills it with SIGKILL, and
/// sees how long this one takes to end them all.
pub(crate) async fn measure(place: &Place, open: u32) -> Result<()> {
    let mut other = Holder::start(place, open)?;
    let killed = other.kill()?;
    let progress = Progress::default();
    let service = service(place.open().await?, config(), progress.clone())?;
    let mut workers = JoinSet::new();
    workers.spawn(async move { service.work().await });
    Progress::until(&progress.done, 1).await?;
    let first = killed.elapsed();
    Progress::until(&progress.done, open).await?;
    let all = killed.elapsed();
    let ended = progress.done.load(Ordering::Relaxed);
    ensure!(ended == open, "{ended} of {open} were ended");
    let again = progress.stepped.load(Ordering::Relaxed);
    ensure!(again == 0, "{again} steps that had ended ran again");
    println!(
        "kill -9 with {open} tasks in hand, a lease of {} s: the first goes on after {:.1} s, all have ended after {:.1} s",
        LEASE.as_secs(),
        first.as_secs_f64(),
        all.as_secs_f64(),
    );
    Ok(())
}

/// Works on `open` tasks, says so when the step of each is done, and ends none
/// of them; goes when its input ends.
pub(crate) async fn hold(place: &Place, open: u32) -> Result<()> {
    let progress = Progress {
        holds: true,
        ..Progress::default()
    };
    let mut config = config();
    config.workers = usize::try_from(open)?;
    let service = service(place.open().await?, config, progress.clone())?;
    let client = Client::of(service.clone())?;
    let mut workers = JoinSet::new();
    workers.spawn(async move { service.work().await });
    client.create("step", open, 32).await?;
    Progress::until(&progress.held, open).await?;
    println!("{HELD}");
    let ended = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    ended.await??;
    Ok(())
}

/// The process that is going to be killed.
struct Holder(Child);

impl Holder {
    /// Starts it and waits until it has all tasks in hand.
    fn start(place: &Place, open: u32) -> Result<Self> {
        let child = Command::new(std::env::current_exe()?)
            .args(["hold", "--open", &open.to_string()])
            .args(place.args())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut holder = Self(child);
        let said = holder.0.stdout.take().context("stdout was piped")?;
        let mut line = String::new();
        BufReader::new(said).read_line(&mut line)?;
        ensure!(line.trim() == HELD, "the other process said `{line}`");
        Ok(holder)
    }

    /// Kills it as the kernel would; says when it was dead.
    fn kill(&mut self) -> Result<Instant> {
        self.0.kill()?;
        self.0.wait()?;
        Ok(Instant::now())
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // One that is dead already need not be killed.
        let _ = self.kill();
    }
}

fn config() -> TaskConfig {
    let mut config = TaskConfig::default();
    config.lease = LEASE;
    config
}

/// Longer than servers have it: one process renews ten thousand leases here,
/// three times each, where it usually has sixteen.
const LEASE: Duration = Duration::from_secs(120);

const HELD: &str = "held";
