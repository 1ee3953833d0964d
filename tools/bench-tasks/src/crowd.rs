//! The memory of tasks that wait, and their place on the disk.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use sterna_server::TaskConfig;
use sterna_store::{Claim, Name, Store};
use tokio::task::JoinSet;

use crate::client::Client;
use crate::commits::task;
use crate::front::{Progress, service};
use crate::place::Place;
use crate::report;

/// Has many tasks ask and wait, compares the memory of the process and the size of
/// the store with what they were when a tenth of them had, and claims tasks beside
/// them.
pub(crate) async fn measure(place: &Place, waiting: u32) -> Result<()> {
    let store = place.open().await?;
    let progress = Progress::default();
    let service = service(Arc::clone(&store), TaskConfig::default(), progress.clone())?;
    let client = Client::of(service.clone())?;
    let mut workers = JoinSet::new();
    workers.spawn(async move { service.work().await });
    // What any number of tasks needs is there after the first.
    let early = waiting / 10;
    crowd(&client, &progress, 0, early).await?;
    let (before, small) = (resident()?, place.disk_bytes().await?);
    let since = Instant::now();
    crowd(&client, &progress, early, waiting).await?;
    report("tasks created, asking and put away", waiting - early, since);
    let (after, large) = (resident()?, place.disk_bytes().await?);
    let grown = after.saturating_sub(before);
    println!(
        "{waiting} waiting tasks: {} KiB resident, {} KiB with {early}: {} bytes per task",
        after,
        before,
        grown * 1024 / u64::from(waiting - early),
    );
    println!(
        "  {} MB on the disk: {} bytes per task",
        large / 1_000_000,
        large.saturating_sub(small) / u64::from(waiting - early),
    );
    // The workers would claim what is to be claimed here.
    workers.shutdown().await;
    claim_each(&*store).await
}

/// Creates one task after the other and says how long it takes to claim it, which
/// is the only one that is due.
async fn claim_each(store: &dyn Store) -> Result<()> {
    let name = Name::new("bench")?;
    let mut took = Vec::new();
    for number in 0..CLAIMS {
        store.create(task(number, name.clone())).await?;
        let since = Instant::now();
        let claimed = store.claim(Claim::new(name.clone(), HOUR)).await?;
        took.push(since.elapsed());
        ensure!(claimed.len() == 1, "{} tasks are due", claimed.len());
    }
    took.sort_unstable();
    println!(
        "  the next due task is claimed in {:.2?} (median of {CLAIMS}), {:.2?} at most",
        took[took.len() / 2],
        took.last().copied().unwrap_or_default(),
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

const CLAIMS: u32 = 200;

const HOUR: Duration = Duration::from_secs(3600);
