//! One client that takes all it can get, and the others.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::client::Client;
use super::{PATIENCE, more_descriptors, runtime};
use crate::good::{Post, call, weather};
use crate::offers::{GREEDY_TOKEN, MODEST_TOKEN};
use crate::subject::Subject;

/// How long it took to serve the others.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Fairness {
    /// Calls of the greedy client that run at once.
    pub held: usize,
    /// The slowest response to another client.
    pub slowest: Duration,
}

impl fmt::Display for Fairness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { held, slowest } = self;
        write!(
            f,
            "{held} calls held, others served within {slowest:.0?} all the time"
        )
    }
}

/// Has one named caller start `calls` calls that stay, on a server of `program`
/// with room for as many, while another caller calls.
///
/// # Errors
///
/// The other caller is refused, or waits for longer than `bound`.
pub fn one_caller_takes_all(program: &Path, calls: usize, bound: Duration) -> Result<Fairness> {
    let options = ["--named", "--calls", &calls.to_string()];
    let mut subject = Subject::start(program, &options)?;
    runtime()?.block_on(async {
        let playing = timeout(PATIENCE, take_all(&mut subject, calls, bound));
        playing.await.context("the end was waited for in vain")?
    })
}

async fn take_all(subject: &mut Subject, calls: usize, bound: Duration) -> Result<Fairness> {
    let hold = by(GREEDY_TOKEN, Post::of(&call("hold", "hold", &json!({})))).to_bytes();
    let modest = by(MODEST_TOKEN, weather()).to_bytes();
    let mut greedy = JoinSet::new();
    for _ in 0..calls {
        let mut client = Client::connect(subject).await?;
        let hold = hold.clone();
        greedy.spawn(async move { client.call(&hold).await });
    }
    let mut refused = 0;
    let mut slowest = Duration::ZERO;
    let mut other = Client::connect(subject).await?;
    // As many as one caller may not have are refused at once; the others stay.
    while refused < calls - calls / 2 {
        let start = Instant::now();
        other.call(&modest).await?.must_be(200)?;
        let took = start.elapsed();
        ensure!(took < bound, "another caller waited for {took:?}");
        slowest = slowest.max(took);
        while let Some(ended) = greedy.try_join_next() {
            let answer = ended??;
            ensure!(answer.status == 429, "{}", answer.head);
            ensure!(answer.head.contains("retry-after: "), "{}", answer.head);
            refused += 1;
        }
    }
    let held = greedy.len();
    ensure!(
        held == calls / 2,
        "{held} of {calls} calls are one caller's"
    );
    subject.release()?;
    while let Some(ended) = greedy.join_next().await {
        ended??.must_be(200)?;
    }
    Ok(Fairness { held, slowest })
}

fn by(token: &str, post: Post) -> Post {
    post.and("authorization", &format!("Bearer {token}"))
}

/// Opens `idle` connections that say nothing, to a server of `program` with
/// room for fewer, while probes and calls come.
///
/// # Errors
///
/// A probe or a call that waits for longer than `bound`.
pub fn idle_connections(program: &Path, idle: usize, bound: Duration) -> Result<Fairness> {
    more_descriptors()?;
    let room = (idle / 4).to_string();
    let subject = Subject::start(program, &["--connections", &room])?;
    runtime()?.block_on(async {
        let playing = timeout(PATIENCE, stay_idle(&subject, idle, bound));
        playing.await.context("the end was waited for in vain")?
    })
}

async fn stay_idle(subject: &Subject, idle: usize, bound: Duration) -> Result<Fairness> {
    let probe = b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let weather = weather().to_bytes();
    let mut slowest = Duration::ZERO;
    let mut silent = Vec::new();
    for number in 0..idle {
        silent.push(Client::connect(subject).await?);
        if number % 64 == 63 {
            let start = Instant::now();
            let answering = async {
                let mut client = Client::connect(subject).await?;
                let alive = client.call(probe).await?;
                ensure!(alive.status == 200, "{}", alive.head);
                client.call(&weather).await?.must_be(200)
            };
            let answered = timeout(bound, answering).await;
            answered.with_context(|| format!("no answer beside {number} idle connections"))??;
            slowest = slowest.max(start.elapsed());
        }
    }
    Ok(Fairness { held: 0, slowest })
}

/// Sends `batches` batches of 32 calls of 50 ms at once, to a server of
/// `program` with room for `calls` of them, and returns how long they took.
///
/// # Errors
///
/// A call without its result, or batches that took less time than they can
/// within the limit.
pub fn batches(program: &Path, batches: usize, calls: usize) -> Result<Duration> {
    let subject = Subject::start(program, &["--calls", &calls.to_string()])?;
    let took = runtime()?.block_on(async {
        let playing = timeout(PATIENCE, send_batches(&subject, batches));
        playing.await.context("the end was waited for in vain")?
    })?;
    let least = MILLIS * (batches * BATCH) as u64 / calls as u64;
    let least = Duration::from_millis(least);
    ensure!(
        took >= least,
        "done in {took:?}, within the limit it takes {least:?}"
    );
    Ok(took)
}

async fn send_batches(subject: &Subject, batches: usize) -> Result<Duration> {
    let post = |body: &Value| {
        let post = Post::of(body).without("mcp-protocol-version");
        post.without("mcp-method").without("mcp-name")
    };
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-03-26",
        "capabilities": {},
        "clientInfo": {"name": "batches", "version": "1"},
    }});
    let slow = |id: usize| {
        let params = json!({"name": "slow", "arguments": {"millis": MILLIS}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let batch: Value = (0..BATCH).map(slow).collect();
    let mut clients = Vec::new();
    for _ in 0..batches {
        let mut client = Client::connect(subject).await?;
        let opened = client.call(&post(&initialize).to_bytes()).await?;
        let session = opened.session.context("a session has an id")?;
        clients.push((client, session));
    }
    let start = Instant::now();
    let mut sent = JoinSet::new();
    for (mut client, session) in clients {
        // Without events: the answers come as one document.
        let batch = post(&batch).with("accept", "application/json");
        let batch = batch.and("mcp-session-id", &session).to_bytes();
        sent.spawn(async move {
            loop {
                let answer = client.call(&batch).await?;
                if answer.status != 503 {
                    return anyhow::Ok(answer);
                }
                // Another batch has all slots.
                tokio::time::sleep(Duration::from_millis(MILLIS)).await;
            }
        });
    }
    while let Some(answer) = sent.join_next().await {
        let answer = answer??;
        let answers: Vec<Value> = serde_json::from_slice(&answer.body)?;
        let done = answers.iter().filter(|one| one["result"].is_object());
        ensure!(done.count() == BATCH, "{} {answers:?}", answer.status);
    }
    Ok(start.elapsed())
}

/// How long a call of a batch takes.
const MILLIS: u64 = 50;

/// The most messages that a batch may have.
const BATCH: usize = 32;
