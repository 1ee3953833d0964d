//! Many clients at once.
#![expect(
    clippy::disallowed_methods,
    reason = "what is measured here is measured in real time"
)]

mod client;
mod fairness;
mod overload;
mod stop;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

pub use fairness::{Fairness, batches, idle_connections, one_caller_takes_all};
pub use overload::{Overload, overload};
pub use stop::{Stopped, stop_under_load};

use crate::good::{Post, call, listen, weather};
use crate::subject::Subject;
use client::Client;

/// Options of a server with room for everybody.
pub const ROOMY: [&str; 4] = ["--listeners", "16000", "--connections", "16000"];

/// So many clients for so long.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    connections: usize,
    listeners: usize,
    time: Duration,
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Figures {
    /// Calls that were answered.
    pub calls: u64,
    /// Events that listeners got.
    pub events: u64,
    /// Memory of the server in KiB when everybody was there, and at the end.
    pub resident: (u64, u64),
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, events, .. } = self;
        let (begin, end) = self.resident;
        write!(
            f,
            "{calls} calls and {events} events, none lost; {begin} KiB, then {end} KiB"
        )
    }
}

impl Load {
    /// A load of callers and listeners.
    #[must_use]
    pub fn new(connections: usize, listeners: usize, time: Duration) -> Self {
        Self {
            connections,
            listeners,
            time,
        }
    }

    /// Puts the load on `subject`.
    ///
    /// # Errors
    ///
    /// The first thing that went wrong: a call without its result, a listener
    /// that was cut or missed an event, memory that grew.
    pub fn run(self, subject: &Subject) -> Result<Figures> {
        more_descriptors()?;
        runtime()?.block_on(self.play(subject))
    }

    async fn play(self, subject: &Subject) -> Result<Figures> {
        let (heard, calls) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let over = Arc::new(AtomicBool::new(false));
        let mut listeners = self.listen(subject, &heard).await?;
        let mut callers = JoinSet::new();
        for _ in 0..self.connections {
            let (calls, over) = (Arc::clone(&calls), Arc::clone(&over));
            let mut client = Client::connect(subject).await?;
            callers.spawn(async move {
                let call = weather().to_bytes();
                while !over.load(Ordering::Relaxed) {
                    client.call(&call).await?.must_be(200)?;
                    calls.fetch_add(1, Ordering::Relaxed);
                }
                anyhow::Ok(())
            });
        }
        let mut client = Client::connect(subject).await?;
        let shout = Post::of(&call("shout", "shout", &json!({"times": 1}))).to_bytes();
        // The first event makes room for events everywhere; from there on nothing may grow.
        let (shouts, pause) = (6, self.time / 6);
        let mut resident = (0, 0);
        for number in 0..shouts {
            client.call(&shout).await?.must_be(200)?;
            tokio::time::sleep(pause).await;
            resident.1 = subject.resident()?;
            if number == 0 {
                resident.0 = resident.1;
            }
        }
        over.store(true, Ordering::Relaxed);
        while let Some(caller) = callers.join_next().await {
            caller??;
        }
        let expected = shouts * u64::try_from(self.listeners)?;
        let patience = Instant::now() + PATIENCE;
        while heard.load(Ordering::Relaxed) < expected && Instant::now() < patience {
            tokio::task::yield_now().await;
        }
        if let Some(gone) = listeners.try_join_next() {
            gone??;
        }
        let events = heard.load(Ordering::Relaxed);
        ensure!(events == expected, "{events} of {expected} events arrived");
        let figures = Figures {
            calls: calls.load(Ordering::Relaxed),
            events,
            resident,
        };
        ensure!(resident.1 < resident.0 + MOST_GROWTH, "it grew: {figures}");
        Ok(figures)
    }

    async fn listen(
        &self,
        subject: &Subject,
        heard: &Arc<AtomicU64>,
    ) -> Result<JoinSet<Result<()>>> {
        let listen = listen().to_bytes();
        let ready = Arc::new(Semaphore::new(0));
        let mut listeners = JoinSet::new();
        for number in 0..self.listeners {
            let mut client = Client::connect(subject).await?;
            client.send(&listen).await?;
            let (here, heard) = (Arc::clone(&ready), Arc::clone(heard));
            listeners.spawn(async move {
                client.read_until(b"subscriptions/acknowledged").await?;
                here.add_permits(1);
                loop {
                    client.read_until(b"resources/updated").await?;
                    heard.fetch_add(1, Ordering::Relaxed);
                }
            });
            // No more at the door than it has room for.
            if number % 64 == 63 {
                ready.acquire_many(64).await?.forget();
            }
        }
        let rest = u32::try_from(self.listeners % 64)?;
        ready.acquire_many(rest).await?.forget();
        Ok(listeners)
    }
}

/// Raises the number of descriptors to what is allowed.
///
/// # Errors
///
/// The system does not agree.
pub fn more_descriptors() -> Result<()> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    Ok(setrlimit(Resource::Nofile, limit)?)
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?)
}

/// How long the last answers and events may take on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// By how many KiB a server under a steady load may grow: what an allocator
/// keeps for itself, and nothing that goes on.
const MOST_GROWTH: u64 = 8192;
