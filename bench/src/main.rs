//! Measures MCP servers side by side.
//!
//! `compare` starts every server that it is given, puts the same load on one
//! after the other, several rounds of it, and writes down what the kernel says
//! about their processes. `growth` asks one server for more and more. `load`
//! runs one scenario a fixed number of times against a server that is already
//! there.

mod chart;
mod compare;
mod connection;
mod growth;
mod load;
mod process;
mod report;
mod scenario;
mod wire;

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Parser;
use tokio::task::LocalSet;

use compare::{Competitor, Plan};
use load::{Extent, Flows};
use scenario::Scenario;

#[derive(Parser)]
enum Args {
    /// Measure servers side by side
    Compare {
        /// Servers as `name=command`; the first is the limit
        #[arg(required = true)]
        servers: Vec<Competitor>,
        /// Seconds of load for each cell of the table
        #[arg(long, default_value_t = 1.0)]
        seconds: f64,
        /// How often everything is measured
        #[arg(long, default_value_t = 3)]
        rounds: usize,
        /// Connections at once
        #[arg(long, value_delimiter = ',', default_value = "1,16,64,256")]
        connections: Vec<usize>,
        /// Only these scenarios
        #[arg(
            long,
            value_delimiter = ',',
            default_value = "plain,plain-varied,mrtr2,mrtr2-varied,list,discover"
        )]
        scenarios: Vec<Scenario>,
        /// How many flows are left waiting to weigh one; 0 weighs nothing
        #[arg(long, default_value_t = 10_000)]
        flows: usize,
        /// Fail if a server takes more than so many times the CPU time of the first, in
        /// the median of its loads
        #[arg(long)]
        most: Option<f64>,
        /// Where to write the figures
        #[arg(long)]
        json: Option<PathBuf>,
        /// Where to draw the figures
        #[arg(long)]
        svg: Option<PathBuf>,
    },
    /// Measure how the cost of our server grows with what it has to carry
    Growth {
        /// Where our server is
        server: String,
    },
    /// Run one scenario so often against a running server
    Load {
        address: SocketAddr,
        scenario: Scenario,
        #[arg(long, default_value_t = 1)]
        connections: usize,
        /// How often, on each connection
        #[arg(long, default_value_t = 1000)]
        count: usize,
    },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let args = Args::parse();
    LocalSet::new().run_until(run(args)).await
}

async fn run(args: Args) -> Result<()> {
    match args {
        Args::Compare {
            servers,
            seconds,
            rounds,
            connections,
            scenarios,
            flows,
            most,
            json,
            svg,
        } => {
            tokio::task::spawn_local(stay_awake());
            let plan = Plan {
                seconds,
                rounds,
                connections,
                scenarios,
                flows,
            };
            let report = compare::run(&servers, &plan).await?;
            println!("{}", report.table());
            if let Some(path) = json {
                std::fs::write(path, report.json()?)?;
            }
            if let Some(path) = svg {
                std::fs::write(path, chart::draw(&report))?;
            }
            if let Some(most) = most {
                report.check(most)?;
            }
            Ok(())
        }
        Args::Growth { server } => {
            tokio::task::spawn_local(stay_awake());
            println!("{}", growth::run(&server).await?);
            Ok(())
        }
        Args::Load {
            address,
            scenario,
            connections,
            count,
        } => {
            let extent = Extent::Count(count);
            let seen = load::run(address, scenario, Flows::Finished, connections, extent).await?;
            println!("{} requests, {} errors", seen.latencies.len(), seen.errors);
            ensure!(seen.errors == 0, "the server answers wrongly");
            Ok(())
        }
    }
}

/// Keeps the runtime looking for answers instead of sleeping until they come.
///
/// A server would pay for waking us, and the slower it is the more often; one
/// whose clients are elsewhere pays for nobody.
async fn stay_awake() {
    loop {
        tokio::task::yield_now().await;
    }
}
