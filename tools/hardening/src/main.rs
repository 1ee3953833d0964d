//! The server under test, and the load that is put on it.

use std::io::Write as _;
use std::net::TcpListener;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, Subcommand};
use hardening::load::{
    self, Load, batches, idle_connections, one_caller_takes_all, overload, stop_under_load,
};
use hardening::offers::{Deeds, Settings, build};
use hardening::{Subject, load::more_descriptors};
use tokio::io::AsyncReadExt;

/// A server that is treated badly, and those who do it
#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Put load on servers of our own and say what came of it: as much as
    /// there is room for, then more, then the end in the middle of it
    Load {
        /// Connections that call without a pause
        #[arg(long, default_value_t = 256)]
        connections: usize,
        /// Listeners that stay
        #[arg(long, default_value_t = 10_000)]
        listeners: usize,
        /// For how long
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
    /// Serve HTTP until standard input ends
    Serve(Settings),
    /// Serve standard input and output
    Stdio(Settings),
}

fn main() -> Result<()> {
    match Args::parse().task {
        Task::Load {
            connections,
            listeners,
            seconds,
        } => {
            let load = Load::new(connections, listeners, Duration::from_secs(seconds));
            put_under(load, connections)
        }
        Task::Serve(settings) => serve(settings),
        Task::Stdio(settings) => stdio(settings),
    }
}

fn put_under(load: Load, connections: usize) -> Result<()> {
    let program = std::env::current_exe()?;
    let subject = Subject::start(&program, &load::ROOMY)?;
    let mut out = std::io::stdout();
    writeln!(out, "load: {}", load.run(&subject)?)?;
    drop(subject);
    let came_of_it = overload(&program, connections.div_ceil(8), connections)?;
    writeln!(out, "overload: {came_of_it}")?;
    let bound = Duration::from_secs(1);
    let fair = one_caller_takes_all(&program, connections, bound)?;
    writeln!(out, "one caller: {fair}")?;
    let fair = idle_connections(&program, connections * 4, bound)?;
    writeln!(out, "idle connections: {fair}")?;
    writeln!(
        out,
        "batches: 224 calls in {:.1?}",
        batches(&program, 7, 8)?
    )?;
    writeln!(out, "stop: {}", stop_under_load(&program, connections)?)?;
    Ok(())
}

#[tokio::main]
async fn serve(settings: Settings) -> Result<()> {
    more_descriptors()?;
    let deeds = Deeds::default();
    let service = build(&settings, deeds.clone())?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    // The first line, which those who start a server wait for.
    let address = listener.local_addr()?;
    writeln!(std::io::stdout(), "listening on http://{address}/mcp")?;
    let held = deeds.clone();
    let told_to_stop = async move {
        let mut stdin = tokio::io::stdin();
        // Whatever is said releases; the end of it all is the end.
        while let Ok(1..) = stdin.read(&mut [0]).await {
            held.release();
        }
    };
    let drained = service.serve_on(listener, told_to_stop).await?;
    let (begun, finished) = deeds.counts();
    writeln!(std::io::stdout(), "{begun} {finished} {}", drained.aborted)?;
    Ok(())
}

/// On one thread, so that answers come in the order of the questions.
#[tokio::main(flavor = "current_thread")]
async fn stdio(settings: Settings) -> Result<()> {
    build(&settings, Deeds::default())?.stdio().await?;
    Ok(())
}
