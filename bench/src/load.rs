//! Many connections that run a scenario until the time is over.

use std::net::SocketAddr;
use std::ops::RangeFrom;
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::task::JoinSet;

use crate::connection::Connection;
use crate::scenario::{Scenario, Turn};

/// What a load has shown.
#[derive(Debug, Default)]
pub struct Seen {
    /// Nanoseconds that each request took.
    pub latencies: Vec<u32>,
    pub errors: usize,
    pub took: Duration,
}

impl Seen {
    /// The latency that a part of all requests stays below.
    pub fn quantile(&mut self, part: f64) -> f64 {
        self.latencies.sort_unstable();
        let last = self.latencies.len().saturating_sub(1);
        let at = (last as f64 * part) as usize;
        f64::from(self.latencies.get(at).copied().unwrap_or_default()) / 1000.0
    }
}

/// How long a load goes on.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// Until this much time has passed.
    Time(Duration),
    /// Until every connection has run the scenario this often.
    Count(usize),
}

/// Whether a flow is brought to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flows {
    Finished,
    Paused,
}

/// Runs `scenario` on `connections` connections at once.
pub async fn run(
    address: SocketAddr,
    scenario: Scenario,
    flows: Flows,
    connections: usize,
    extent: Extent,
) -> Result<Seen> {
    let mut workers = JoinSet::new();
    let start = Instant::now();
    for number in 0..connections as u64 {
        // Far apart, so that no two connections have a turn in common.
        let turns = (number << 32)..;
        workers.spawn_local(worker(address, scenario, turns, flows, start, extent));
    }
    let mut seen = Seen::default();
    while let Some(worker) = workers.join_next().await {
        let (latencies, errors) = worker??;
        seen.latencies.extend(latencies);
        seen.errors += errors;
    }
    seen.took = start.elapsed();
    Ok(seen)
}

async fn worker(
    address: SocketAddr,
    scenario: Scenario,
    mut turns: RangeFrom<u64>,
    flows: Flows,
    start: Instant,
    extent: Extent,
) -> Result<(Vec<u32>, usize)> {
    let mut turn = scenario.turn(address, turns.start);
    let mut first = turn.first();
    let mut connection = Connection::open(address).await?;
    let mut latencies = Vec::with_capacity(1 << 14);
    let mut errors = 0;
    let mut runs = 0;
    while match extent {
        Extent::Time(time) => start.elapsed() < time,
        Extent::Count(count) => runs < count,
    } {
        runs += 1;
        if scenario.is_varied()
            && let Some(number) = turns.next()
        {
            turn = scenario.turn(address, number);
            first = turn.first();
        }
        let run = once(&mut connection, &turn, flows, &first, &mut latencies).await;
        if let Err(error) = run {
            if errors == 0 {
                eprintln!("{address} {}: {error:#}", scenario.name());
            }
            errors += 1;
            connection = Connection::open(address).await?;
        }
    }
    Ok((latencies, errors))
}

async fn once(
    connection: &mut Connection,
    turn: &Turn,
    flows: Flows,
    first: &[u8],
    latencies: &mut Vec<u32>,
) -> Result<()> {
    let start = Instant::now();
    let answer = connection.send(first).await?;
    latencies.push(nanos(start));
    turn.check(answer)?;
    if flows == Flows::Finished
        && let Some(retry) = turn.retry(answer)?
    {
        let start = Instant::now();
        let answer = connection.send(&retry).await?;
        latencies.push(nanos(start));
        turn.check_retry(answer)?;
    }
    Ok(())
}

fn nanos(start: Instant) -> u32 {
    u32::try_from(start.elapsed().as_nanos()).unwrap_or(u32::MAX)
}
