//! What was measured, as a table and as JSON.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;

/// One server under one load.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    pub server: String,
    pub scenario: String,
    pub connections: usize,
    /// Server CPU time per request.
    pub cpu_micros: f64,
    pub per_second: f64,
    pub p50_micros: f64,
    pub p99_micros: f64,
    pub errors: usize,
}

/// What a server weighs.
#[derive(Clone, Debug, Serialize)]
pub struct Memory {
    pub server: String,
    pub idle_kib: u64,
    pub loaded_kib: u64,
    pub bytes_per_paused_flow: f64,
    pub state_chars: usize,
    pub calls_per_request: Option<f64>,
}

/// Everything that was measured in one run.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// The first is the limit.
    pub servers: Vec<String>,
    pub cells: Vec<Cell>,
    pub memory: Vec<Memory>,
}

impl Report {
    pub fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The loads, in the order they were run.
    pub fn loads(&self) -> Vec<(String, usize)> {
        let mut loads = Vec::new();
        for cell in &self.cells {
            let load = (cell.scenario.clone(), cell.connections);
            if !loads.contains(&load) {
                loads.push(load);
            }
        }
        loads
    }

    /// The median over the rounds of a figure of a cell.
    pub fn median(
        &self,
        server: &str,
        load: &(String, usize),
        figure: fn(&Cell) -> f64,
    ) -> Option<f64> {
        let mut figures: Vec<f64> = self
            .cells
            .iter()
            .filter(|cell| {
                cell.server == server && (&cell.scenario, cell.connections) == (&load.0, load.1)
            })
            .map(figure)
            .collect();
        figures.sort_by(f64::total_cmp);
        figures.get(figures.len() / 2).copied()
    }

    /// CPU time per request against that of the limit in the same run.
    pub fn ratio(&self, server: &str, load: &(String, usize)) -> Option<f64> {
        let cpu = |cell: &Cell| cell.cpu_micros;
        let limit = self.median(self.servers.first()?, load, cpu)?;
        Some(self.median(server, load, cpu)? / limit)
    }

    /// Checks that no server takes more than `most` times the CPU time of the limit,
    /// in the median of its loads.
    pub fn check(&self, most: f64) -> Result<()> {
        for server in self.servers.iter().skip(1) {
            let loads = self.loads();
            let mut ratios: Vec<f64> = loads
                .iter()
                .filter_map(|load| self.ratio(server, load))
                .collect();
            ratios.sort_by(f64::total_cmp);
            let ratio = ratios.get(ratios.len() / 2).context("no load")?;
            println!("{server}: {ratio:.2} × the CPU time of the limit, may take {most} ×");
            ensure!(*ratio <= most, "{server} takes more CPU time than it may");
        }
        Ok(())
    }

    /// Everything as Markdown, each figure the median of the rounds.
    pub fn table(&self) -> String {
        let mut out = String::from(
            "| load | server | CPU µs per request | × limit | requests per CPU-second | requests per second | p50 µs | p99 µs | errors |\n|---|---|---|---|---|---|---|---|---|\n",
        );
        for load in self.loads() {
            for server in &self.servers {
                let get = |figure| self.median(server, &load, figure).unwrap_or(f64::NAN);
                let cpu = get(|cell| cell.cpu_micros);
                let _ = writeln!(
                    out,
                    "| {} {} | {server} | {cpu:.1} | {:.2} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} |",
                    load.0,
                    load.1,
                    self.ratio(server, &load).unwrap_or(f64::NAN),
                    1e6 / cpu,
                    get(|cell| cell.per_second),
                    get(|cell| cell.p50_micros),
                    get(|cell| cell.p99_micros),
                    get(|cell| cell.errors as f64),
                );
            }
        }
        out.push_str("\n| server | RSS idle KiB | RSS after KiB | bytes per paused flow | requestState characters | system calls per request |\n|---|---|---|---|---|---|\n");
        for one in &self.memory {
            let calls = one.calls_per_request;
            let calls = calls.map_or_else(|| "–".to_owned(), |calls| format!("{calls:.2}"));
            let _ = writeln!(
                out,
                "| {} | {} | {} | {:.0} | {} | {calls} |",
                one.server,
                one.idle_kib,
                one.loaded_kib,
                one.bytes_per_paused_flow,
                one.state_chars,
            );
        }
        out
    }
}
