//! Whole tasks: created by a client, stepped and finished by workers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use sterna_server::TaskConfig;
use sterna_store::Store;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::front::{Progress, WALK, service};
use crate::report;

pub(crate) async fn measure(store: Arc<dyn Store>, tasks: u32) -> Result<()> {
    let progress = Progress::default();
    let service = service(store, TaskConfig::default(), progress.clone())?;
    let client = Client::of(service.clone())?;
    let since = Instant::now();
    let last = client.create("step", tasks, 32).await?;
    report("tasks created through the server, 32 at once", tasks, since);
    let since = Instant::now();
    let mut workers = JoinSet::new();
    workers.spawn(async move { service.work().await });
    Progress::until(&progress.done, tasks).await?;
    report("tasks stepped and finished, 64 workers", tasks, since);
    while client.status(&last).await? != "completed" {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let since = Instant::now();
    client.create("step", tasks, 32).await?;
    Progress::until(&progress.done, 2 * tasks).await?;
    report("tasks created, stepped and finished together", tasks, since);
    progress.report_slowest()
}

/// Steps of a few long tasks, whose leases are renewed in the middle of commits.
pub(crate) async fn measure_walks(store: Arc<dyn Store>) -> Result<()> {
    let progress = Progress::default();
    let mut config = TaskConfig::default();
    config.lease = Duration::from_secs(3);
    let service = service(store, config, progress.clone())?;
    let client = Client::of(service.clone())?;
    client.create("walk", WALKERS, WALKERS).await?;
    let since = Instant::now();
    let mut workers = JoinSet::new();
    workers.spawn(async move { service.work().await });
    Progress::until(&progress.done, WALKERS).await?;
    report(
        "steps of 16 tasks with leases of 3 s",
        WALKERS * WALK,
        since,
    );
    progress.report_slowest()
}

const WALKERS: u32 = 16;
