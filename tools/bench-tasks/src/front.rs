//! A server with tasks.

use std::collections::HashMap;
use std::future::pending;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use schemars::JsonSchema;
use serde::Deserialize;
use sterna_seal::{Keyring, ThreadEntropy};
use sterna_server::auth::Gate;
use sterna_server::{Cx, Server, ServerConfig, Service, TaskConfig, TaskMode, Tool, ToolError};
use sterna_store::Store;

/// How far tasks have come.
#[derive(Clone, Default)]
pub(crate) struct Progress {
    pub(crate) asked: Arc<AtomicU32>,
    pub(crate) stepped: Arc<AtomicU32>,
    pub(crate) held: Arc<AtomicU32>,
    pub(crate) done: Arc<AtomicU32>,
    /// Whether a task that has stepped stays in hand for ever.
    pub(crate) holds: bool,
    /// What the slowest step took until its handler went on, in microseconds.
    pub(crate) slowest: Arc<AtomicU64>,
    /// Times at which handlers continued with an answer, by the text of the call.
    pub(crate) continued: Arc<Mutex<HashMap<String, Instant>>>,
}

impl Progress {
    /// Notes that a step that began at `begun` is committed.
    fn committed(&self, begun: Instant) {
        let took = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.slowest.fetch_max(took, Ordering::Relaxed);
    }

    /// Returns when the handler of the call with `text` continued, once.
    pub(crate) fn continued_at(&self, text: &str) -> Option<Instant> {
        let mut continued = self
            .continued
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        continued.remove(text)
    }

    /// Reports the slowest step since the last report.
    ///
    /// # Errors
    ///
    /// It took longer than a second: something waits for itself.
    pub(crate) fn report_slowest(&self) -> Result<()> {
        let slowest = Duration::from_micros(self.slowest.swap(0, Ordering::Relaxed));
        println!("  the slowest step was committed after {slowest:.1?}");
        ensure!(
            slowest <= LONGEST_STEP,
            "a step took {slowest:?} to be committed, and nothing was broken"
        );
        Ok(())
    }

    /// Waits until `counter` is `count`.
    ///
    /// # Errors
    ///
    /// It stands still for so long that a task must have been lost.
    pub(crate) async fn until(counter: &AtomicU32, count: u32) -> Result<()> {
        let (mut known, mut since) = (0, Instant::now());
        loop {
            let now = counter.load(Ordering::Relaxed);
            if now >= count {
                return Ok(());
            }
            if now > known {
                (known, since) = (now, Instant::now());
            }
            ensure!(
                since.elapsed() < STANDSTILL,
                "{now} of {count} tasks came through, and no more"
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

pub(crate) fn service(
    store: Arc<dyn Store>,
    tasks: TaskConfig,
    progress: Progress,
) -> Result<Service> {
    let mut config = ServerConfig::default();
    config.tasks = tasks;
    // One caller creates them all.
    config.tasks.per_owner = None;
    let keys = Keyring::generate(&mut ThreadEntropy)?;
    let server = Server::new("bench", "1")
        .sep2322_tasks()
        .keys(keys)
        .gate(Gate::open())
        .state(progress)
        .offer(Tool::new("step", "One step", step).task(TaskMode::Always))
        .offer(Tool::new("walk", "Many steps", walk).task(TaskMode::Always))
        .offer(Tool::new("ask", "One question", ask).task(TaskMode::Always))
        .store(store)
        .config(config);
    Ok(server.build()?)
}

#[derive(Deserialize, JsonSchema)]
struct Input {
    text: String,
}

async fn step(cx: Cx<'_>, input: Input) -> Result<String, ToolError> {
    let text = input.text;
    let progress = cx.state::<Progress>();
    let stepped = &progress.stepped;
    let begun = Instant::now();
    let kept = cx
        .step("keep", || async move {
            stepped.fetch_add(1, Ordering::Relaxed);
            text
        })
        .await;
    progress.committed(begun);
    if progress.holds {
        let held = &progress.held;
        cx.try_step("hold", || async move {
            held.fetch_add(1, Ordering::Relaxed);
            pending::<Result<(), ToolError>>().await
        })
        .await?;
    }
    progress.done.fetch_add(1, Ordering::Relaxed);
    Ok(kept)
}

/// Commits one step after the other for longer than half a lease.
async fn walk(cx: Cx<'_>, input: Input) -> Result<String, ToolError> {
    let progress = cx.state::<Progress>();
    for number in 0..WALK {
        let begun = Instant::now();
        let stepped = &progress.stepped;
        cx.step(&format!("step-{number}"), || async move {
            stepped.fetch_add(1, Ordering::Relaxed);
        })
        .await;
        progress.committed(begun);
    }
    progress.done.fetch_add(1, Ordering::Relaxed);
    Ok(input.text)
}

async fn ask(cx: Cx<'_>, input: Input) -> Result<String, ToolError> {
    cx.state::<Progress>().asked.fetch_add(1, Ordering::Relaxed);
    let name: String = cx.ask("name", "Who are you?").await?;
    let continued = &cx.state::<Progress>().continued;
    let mut continued = continued.lock().unwrap_or_else(PoisonError::into_inner);
    continued.insert(input.text.clone(), Instant::now());
    drop(continued);
    Ok(format!("{name} {}", input.text))
}

/// The steps of one walk.
pub(crate) const WALK: u32 = 200;

/// What a step may take: a commit, with all workers at it.
const LONGEST_STEP: Duration = Duration::from_secs(1);

/// Far longer than the lease of a process that was killed.
const STANDSTILL: Duration = Duration::from_secs(600);
