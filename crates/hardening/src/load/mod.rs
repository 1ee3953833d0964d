//! Many clients at once.
#![expect(
    clippy::disallowed_methods,
    reason = "what is measured here is measured in real time"
)]

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::good::{Post, call, listen, weather};
use crate::subject::Subject;

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
    /// that was cut or missed an event.
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
        Ok(Figures {
            calls: calls.load(Ordering::Relaxed),
            events,
            resident,
        })
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
            client.stream.write_all(&listen).await?;
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

/// Sends `clients` slow calls at once to a server that has room for fewer, and
/// one more when they are over. Says how many were served and how many were
/// sent away, and how long the slowest of those took to hear it.
///
/// # Errors
///
/// An answer that was neither, or no answer at all.
pub fn overload(subject: &Subject, clients: usize) -> Result<(usize, usize, Duration)> {
    runtime()?.block_on(async {
        let mut calls = JoinSet::new();
        for _ in 0..clients {
            let mut client = Client::connect(subject).await?;
            calls.spawn(async move {
                let call = slow(LONG);
                let start = Instant::now();
                let answer = client.call(&call).await?;
                anyhow::Ok((answer, start.elapsed()))
            });
        }
        let (mut served, mut sent_away, mut slowest) = (0, 0, Duration::ZERO);
        while let Some(ended) = calls.join_next().await {
            let (answer, took) = ended??;
            if answer.status == 503 {
                ensure!(answer.head.contains("retry-after: "), "{}", answer.head);
                sent_away += 1;
                slowest = slowest.max(took);
            } else {
                answer.must_be(200)?;
                served += 1;
            }
        }
        Client::connect(subject)
            .await?
            .call(&slow(1))
            .await?
            .must_be(200)?;
        Ok((served, sent_away, slowest))
    })
}

/// Calls on `clients` connections without a pause and tells the server to stop
/// in the middle. Says how many calls got their result.
///
/// # Errors
///
/// An answer that is none.
pub fn stop_under_load(subject: &mut Subject, clients: usize) -> Result<u64> {
    runtime()?.block_on(async {
        let answered = Arc::new(AtomicU64::new(0));
        let mut callers = JoinSet::new();
        for _ in 0..clients {
            let mut client = Client::connect(subject).await?;
            let answered = Arc::clone(&answered);
            callers.spawn(async move {
                // Ends when the server hangs up instead of answering.
                while let Ok(answer) = client.call(&slow(20)).await {
                    answer.must_be(200)?;
                    answered.fetch_add(1, Ordering::Relaxed);
                }
                anyhow::Ok(())
            });
        }
        while answered.load(Ordering::Relaxed) < 10 * u64::try_from(clients)? {
            tokio::task::yield_now().await;
        }
        subject.tell_to_stop();
        while let Some(caller) = callers.join_next().await {
            caller??;
        }
        Ok(answered.load(Ordering::Relaxed))
    })
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

fn slow(millis: u64) -> Vec<u8> {
    Post::of(&call("slow", "slow", &json!({"millis": millis}))).to_bytes()
}

struct Client {
    stream: TcpStream,
    unread: Vec<u8>,
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn must_be(self, status: u16) -> Result<()> {
        let body = String::from_utf8_lossy(&self.body);
        ensure!(self.status == status, "{} {body}", self.status);
        let message: Value = serde_json::from_slice(&self.body)?;
        ensure!(message.get("result").is_some(), "{body}");
        Ok(())
    }
}

impl Client {
    async fn connect(subject: &Subject) -> Result<Self> {
        let stream = TcpStream::connect(subject.address()).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            unread: Vec::new(),
        })
    }

    async fn call(&mut self, request: &[u8]) -> Result<Answer> {
        self.stream.write_all(request).await?;
        let head = self.read_until(b"\r\n\r\n").await?;
        let head = String::from_utf8(head)?.to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.context("an answer has a length")?.parse()?;
        while self.unread.len() < length {
            self.fill().await?;
        }
        Ok(Answer {
            status: head.get(9..12).context("there is a status")?.parse()?,
            body: self.unread.drain(..length).collect(),
            head,
        })
    }

    /// Everything up to `end` and with it.
    async fn read_until(&mut self, end: &[u8]) -> Result<Vec<u8>> {
        loop {
            let found = self
                .unread
                .windows(end.len())
                .position(|bytes| bytes == end);
            if let Some(at) = found {
                return Ok(self.unread.drain(..at + end.len()).collect());
            }
            self.fill().await?;
        }
    }

    async fn fill(&mut self) -> Result<()> {
        let read = self.stream.read_buf(&mut self.unread).await?;
        ensure!(read > 0, "the server hung up");
        Ok(())
    }
}

/// How long a call takes that keeps its place, in milliseconds.
const LONG: u64 = 1500;

/// How long the last events may take.
const PATIENCE: Duration = Duration::from_secs(20);
