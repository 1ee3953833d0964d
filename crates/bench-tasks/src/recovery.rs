//! What a crash with many open tasks costs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use sterna_store::{Name, Store};
use tokio::task::JoinSet;

use crate::commits::claim_all;
use crate::front::{Client, Progress, service};

/// Has a worker that will never be heard of again hold every task, then sees
/// how long another instance takes to end them all.
pub(crate) async fn measure(store: Arc<dyn Store>, open: u32) -> Result<()> {
    let progress = Progress::default();
    let service = service(
        Arc::clone(&store),
        Duration::from_secs(30),
        progress.clone(),
    )?;
    Client::of(service.clone())?
        .create("step", open, 32)
        .await?;
    let dead = Name::new("dead")?;
    let lease = Duration::from_secs(30);
    let since = Instant::now();
    let held = claim_all(&*store, &dead, lease).await?;
    ensure!(
        held.len() == usize::try_from(open)?,
        "{} were held",
        held.len()
    );
    ensure!(since.elapsed() < lease, "claiming took longer than a lease");
    let first_ends = since + lease;
    let mut workers = JoinSet::new();
    workers.spawn(async move { service.work().await });
    Progress::until(&progress.done, 1).await;
    let first = Instant::now().saturating_duration_since(first_ends);
    Progress::until(&progress.done, open).await;
    let all = Instant::now().saturating_duration_since(first_ends);
    let ended = progress.done.load(Ordering::Relaxed);
    ensure!(ended == open, "{ended} of {open} were ended");
    println!(
        "crash with {open} open tasks: first goes on {:.2} s after its lease, all have ended after {:.1} s",
        first.as_secs_f64(),
        all.as_secs_f64(),
    );
    Ok(())
}
