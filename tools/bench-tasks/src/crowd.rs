//! The memory of tasks that wait.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use sterna_server::TaskConfig;
use sterna_store::Store;
use tokio::task::JoinSet;

use crate::front::{Client, Progress, service};
use crate::report;

/// Has many tasks ask and wait, and compares the memory of the process with
/// what it was when a tenth of them had.
pub(crate) async fn measure(store: Arc<dyn Store>, waiting: u32) -> Result<()> {
    let progress = Progress::default();
    let service = service(store, TaskConfig::default(), progress.clone())?;
    let client = Client::of(service.clone())?;
    let mut workers = JoinSet::new();
    workers.spawn(async move { service.work().await });
    // What any number of tasks needs is there after the first.
    let early = waiting / 10;
    crowd(&client, &progress, 0, early).await?;
    let before = resident()?;
    let since = Instant::now();
    crowd(&client, &progress, early, waiting).await?;
    report("tasks created, asking and put away", waiting - early, since);
    let after = resident()?;
    let grown = after.saturating_sub(before);
    println!(
        "{waiting} waiting tasks: {} KiB resident, {} KiB with {early}: {} bytes per task",
        after,
        before,
        grown * 1024 / u64::from(waiting - early),
    );
    Ok(())
}

async fn crowd(client: &Client, progress: &Progress, from: u32, to: u32) -> Result<()> {
    let last = client.create("ask", to - from, 32).await?;
    Progress::until(&progress.asked, to).await?;
    while client.status(&last).await? != "input_required" {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Whoever was asked last is being put away.
    tokio::time::sleep(Duration::from_secs(3)).await;
    Ok(())
}

/// What the process holds in memory, in KiB.
fn resident() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let line = line.context("no VmRSS: the system is no Linux")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
