//! What a request costs when there is more of something: rounds, entries in
//! the journal, tools, listeners, tasks.

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::connection::Connection;
use crate::process::Process;
use crate::scenario::Scenario;
use crate::wire;

/// Measures `server`, a command of ours, and writes one table.
pub async fn run(server: &str) -> Result<String> {
    let mut table = String::from("| what | CPU µs per request | characters of the last state |\n");
    table.push_str("|---|---|---|\n");
    let mut row = |what: String, (micros, chars): (f64, usize)| {
        table.push_str(&format!("| {what} | {micros:.1} | {chars} |\n"));
    };
    let process = Process::start(Command::new(server).arg("--growth"))?;
    for count in [1, 2, 4, 6, 8] {
        let cost = flows(&process, "rounds", count).await?;
        row(format!("a flow of {count} questions"), cost);
    }
    for count in [0, 10, 50, 100] {
        let cost = flows(&process, "steps", count).await?;
        row(format!("a journal of {count} results of 100 bytes"), cost);
    }
    for count in ["7", "97", "9997"] {
        let process = Process::start(Command::new(server).args(["--more-tools", count]))?;
        for scenario in [Scenario::Plain, Scenario::List] {
            let tools = count.parse::<usize>()? + 3;
            let cost = (same(&process, scenario).await?, 0);
            row(format!("`{}` among {tools} tools", scenario.name()), cost);
        }
    }
    for count in [0, 1000, 10_000] {
        let listeners = ["--listeners", &count.to_string()];
        let process = Process::start(Command::new(server).args(listeners))?;
        let mut streams = Vec::new();
        for _ in 0..count {
            let mut connection = Connection::open(process.address).await?;
            let listen = wire::listen(process.address);
            connection.open_stream(&listen).await?;
            streams.push(connection);
        }
        let cost = (same(&process, Scenario::Plain).await?, 0);
        row(format!("`plain` beside {count} listeners"), cost);
    }
    for count in [0, 1000, 10_000] {
        let process = Process::start(Command::new(server).arg("--tasks"))?;
        leave_waiting(&process, count).await?;
        let cost = (same(&process, Scenario::Plain).await?, 0);
        row(format!("`plain` beside {count} waiting tasks"), cost);
    }
    Ok(table)
}

/// Begins tasks that ask and are never answered, and waits until they all have
/// asked.
async fn leave_waiting(process: &Process, count: u32) -> Result<()> {
    let mut connection = Connection::open(process.address).await?;
    let mut tasks = Vec::new();
    for _ in 0..count {
        let created = connection.send(&wire::task(process.address)).await?;
        tasks.push(wire::task_id(created)?.to_owned());
    }
    for task in tasks {
        let look = wire::look_at(process.address, &task);
        while !wire::waits(connection.send(&look).await?)? {
            tokio::time::sleep(PAUSE).await;
        }
    }
    Ok(())
}

/// Flows of a tool that takes a count, from their beginning to their end.
async fn flows(process: &Process, tool: &str, count: u32) -> Result<(f64, usize)> {
    let mut connection = Connection::open(process.address).await?;
    let (mut requests, mut before, mut chars) = (0, 0.0, 0);
    for flow in 0..WARM + FLOWS {
        if flow == WARM {
            (requests, before) = (0, process.cpu()?);
        }
        let first = wire::counted(process.address, tool, count, None)?;
        let mut answer = connection.send(&first).await?.to_vec();
        requests += 1;
        while wire::asks(&answer) {
            chars = wire::state(&answer)?.len();
            let retry = wire::counted(process.address, tool, count, Some(&answer))?;
            answer = connection.send(&retry).await?.to_vec();
            requests += 1;
        }
        wire::check_name(&answer)?;
    }
    let cpu = process.cpu()? - before;
    Ok((cpu / f64::from(requests) * 1e6, chars))
}

/// One request again and again.
async fn same(process: &Process, scenario: Scenario) -> Result<f64> {
    let mut connection = Connection::open(process.address).await?;
    let turn = scenario.turn(process.address, 0);
    let request = turn.first();
    let mut before = 0.0;
    for run in 0..WARM + FLOWS {
        if run == WARM {
            before = process.cpu()?;
        }
        turn.check(connection.send(&request).await?)?;
    }
    let cpu = process.cpu()? - before;
    ensure!(cpu > 0.0, "the kernel counts no time");
    Ok(cpu / f64::from(FLOWS) * 1e6)
}

const PAUSE: Duration = Duration::from_millis(10);
const WARM: u32 = 200;
const FLOWS: u32 = 1000;
