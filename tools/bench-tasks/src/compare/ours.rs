//! A server of ours and its client.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use sterna_server::TaskConfig;
use tokio::task::JoinSet;

use super::load::{Kind, Load, Loaded, run};
use crate::client::Client;
use crate::front::{Progress, service};
use crate::place::Place;

/// A server with workers. Calls and results go through its whole HTTP service,
/// without a socket in between.
pub(super) struct Ours {
    client: Client,
    progress: Progress,
    /// Tells the calls apart.
    number: AtomicU64,
    _workers: JoinSet<()>,
}

impl Ours {
    pub(super) async fn start(place: &Place) -> Result<Self> {
        let progress = Progress::default();
        let service = service(place.open().await?, TaskConfig::default(), progress.clone())?;
        let client = Client::of(service.clone())?;
        let mut workers = JoinSet::new();
        workers.spawn(async move { service.work().await });
        Ok(Self {
            client,
            progress,
            number: AtomicU64::new(0),
            _workers: workers,
        })
    }

    pub(super) async fn run(&self, load: Load) -> Result<Loaded> {
        let task = |_| {
            let number = self.number.fetch_add(1, Ordering::Relaxed);
            task(
                self.client.clone(),
                self.progress.clone(),
                load.kind,
                number,
            )
        };
        run(load, task).await
    }
}

async fn task(client: Client, progress: Progress, kind: Kind, number: u64) -> Result<Duration> {
    let text = format!("{number:0400}");
    match kind {
        Kind::Ask => {
            let sent = client.answer_question(&text).await?;
            let continued = progress.continued_at(&text);
            Ok(continued.context("it did not continue")? - sent)
        }
        Kind::Step => {
            let since = Instant::now();
            client.run_to_result("step", &text).await?;
            Ok(since.elapsed())
        }
    }
}
