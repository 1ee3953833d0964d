//! Every server under the same load, one after the other.

use std::process::Command;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::load::{self, Extent, Flows};
use crate::process::Process;
use crate::report::{Cell, Memory, Report};
use crate::scenario::Scenario;
use crate::wire;

/// A server to measure: a name and the words of its command line.
#[derive(Clone, Debug)]
pub struct Competitor {
    name: String,
    words: Vec<String>,
}

impl FromStr for Competitor {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, command) = text.split_once('=').context("name=command")?;
        Ok(Self {
            name: name.to_owned(),
            words: command.split_whitespace().map(str::to_owned).collect(),
        })
    }
}

impl Competitor {
    fn start(&self) -> Result<Process> {
        let (program, args) = self.words.split_first().context("a command")?;
        Process::start(Command::new(program).args(args))
    }
}

/// What is measured.
pub struct Plan {
    pub seconds: f64,
    pub rounds: usize,
    pub connections: Vec<usize>,
    pub scenarios: Vec<Scenario>,
    /// How many are left waiting.
    pub flows: usize,
}

pub async fn run(servers: &[Competitor], plan: &Plan) -> Result<Report> {
    let mut report = Report::default();
    for server in servers {
        report.servers.push(server.name.clone());
    }
    for round in 0..plan.rounds {
        for &scenario in &plan.scenarios {
            for &connections in &plan.connections {
                for server in servers {
                    eprintln!("round {round}: {} {scenario:?} {connections}", server.name);
                    let cell = cell(server, plan, scenario, connections).await?;
                    report.cells.push(cell);
                }
            }
        }
    }
    if plan.flows > 0 {
        for server in servers {
            report.memory.push(memory(server, plan.flows).await?);
        }
    }
    Ok(report)
}

/// A process of its own for every cell, so that none inherits another's heap.
async fn cell(
    server: &Competitor,
    plan: &Plan,
    scenario: Scenario,
    connections: usize,
) -> Result<Cell> {
    let process = server.start()?;
    let warm = Extent::Time(Duration::from_secs_f64(plan.seconds / 3.0));
    let full = Extent::Time(Duration::from_secs_f64(plan.seconds));
    let flows = Flows::Finished;
    load::run(process.address, scenario, flows, connections, warm).await?;
    let before = process.cpu()?;
    let mut seen = load::run(process.address, scenario, flows, connections, full).await?;
    let cpu = process.cpu()? - before;
    let requests = seen.latencies.len() as f64;
    Ok(Cell {
        server: server.name.clone(),
        scenario: scenario.name().to_owned(),
        connections,
        cpu_micros: cpu / requests * 1e6,
        per_second: requests / seen.took.as_secs_f64(),
        p50_micros: seen.quantile(0.5),
        p99_micros: seen.quantile(0.99),
        errors: seen.errors,
    })
}

/// What a server weighs, and what a flow that waits adds to it.
async fn memory(server: &Competitor, flows: usize) -> Result<Memory> {
    let process = server.start()?;
    let idle = process.rss()?;
    let ask = |count| {
        let extent = Extent::Count(count);
        load::run(process.address, Scenario::Mrtr2, Flows::Paused, 16, extent)
    };
    // The first flows warm the allocator, the others are what is counted.
    ask(200).await?;
    let before = process.rss()?;
    ask(flows / 16).await?;
    let after = process.rss()?;
    let mut connection = crate::connection::Connection::open(process.address).await?;
    let turn = Scenario::Mrtr2.turn(process.address, 0);
    let asked = connection.send(&turn.first()).await?;
    Ok(Memory {
        server: server.name.clone(),
        idle_kib: idle,
        loaded_kib: after,
        bytes_per_paused_flow: (after.saturating_sub(before) * 1024) as f64 / flows as f64,
        state_chars: wire::state(asked)?.len(),
        calls_per_request: calls(&process).await?,
    })
}

/// System calls per request under load, if there is a tool to count them: what
/// more requests on as many connections add, so that connecting does not count.
async fn calls(process: &Process) -> Result<Option<f64>> {
    let Some((few_calls, few)) = calls_of(process, 20).await? else {
        return Ok(None);
    };
    let Some((many_calls, many)) = calls_of(process, 80).await? else {
        return Ok(None);
    };
    Ok(Some((many_calls - few_calls) / (many - few)))
}

/// System calls and requests of a load of so many requests on each connection.
async fn calls_of(process: &Process, count: usize) -> Result<Option<(f64, f64)>> {
    let counter = tokio::process::Command::new("perf")
        .args(["stat", "-x,", "-e", "raw_syscalls:sys_enter", "-p"])
        .arg(process.id().to_string())
        .stderr(std::process::Stdio::piped())
        .spawn();
    let Ok(counter) = counter else {
        return Ok(None);
    };
    // It takes a moment to attach itself.
    tokio::time::sleep(Duration::from_millis(400)).await;
    let extent = Extent::Count(count);
    let flows = Flows::Finished;
    let seen = load::run(process.address, Scenario::Plain, flows, 256, extent).await?;
    let id = counter.id().context("perf ended by itself")?;
    Command::new("kill")
        .args(["-INT", &id.to_string()])
        .status()?;
    let output = counter.wait_with_output().await?;
    let text = String::from_utf8_lossy(&output.stderr);
    let count = text.split(',').next().unwrap_or_default().trim();
    Ok(count
        .parse()
        .ok()
        .map(|count| (count, seen.latencies.len() as f64)))
}
