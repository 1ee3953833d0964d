//! A server for a container, or for a service manager that starts it with the
//! first request: it ends when it is idle, and the next round starts another.
//!
//! ```text
//! $ cargo run --bin container -- --key-file keys.toml --listen 127.0.0.1:8080
//! ```
//!
//! `docs/serverless.md` has the unit files for systemd, the `Dockerfile` and the
//! manifests for Kubernetes.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use schemars::JsonSchema;
use serde::Deserialize;
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::http::HttpConfig;
use sterna_server::{AskError, Cx, Server};

#[derive(Parser)]
struct Args {
    /// Address to listen on if no socket was passed. By default every address, at
    /// the port in the environment variable `PORT`, or at 8080.
    #[arg(long)]
    listen: Option<SocketAddr>,
    /// Keys that all processes share.
    #[arg(long)]
    key_file: PathBuf,
    /// Tokens of callers, one line `token name` for each.
    #[arg(long)]
    token_file: Option<PathBuf>,
    /// Name by which clients reach the server; may be given several times.
    #[arg(long = "host")]
    hosts: Vec<String>,
    /// Seconds without a request after which the process ends.
    #[arg(long)]
    exit_when_idle: Option<u64>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let address = match args.listen {
        Some(address) => address,
        None => SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port()?),
    };
    let mut http = HttpConfig::default();
    http.hosts = args.hosts;
    http.timeouts.exit_when_idle = args.exit_when_idle.map(Duration::from_secs);
    let mut server = Server::new("container", env!("CARGO_PKG_VERSION"))
        .tool("interview", "Asks one thing after the other", interview)
        .key_file(args.key_file)
        .http(http)
        .log_to_stderr();
    if let Some(file) = args.token_file {
        server = server.gate(Gate::guarded(StaticTokens::from_file(file)?));
    }
    server.build()?.serve_activated(address).await?;
    Ok(())
}

/// Port that the platform has chosen, as Cloud Run and Knative do.
fn port() -> anyhow::Result<u16> {
    #[expect(
        clippy::disallowed_methods,
        reason = "platforms name the port in the environment"
    )]
    match std::env::var("PORT") {
        Ok(port) => Ok(port.parse()?),
        Err(_) => Ok(8080),
    }
}

#[derive(Deserialize, JsonSchema)]
struct Interview {
    /// How many questions to ask
    questions: u32,
}

async fn interview(cx: Cx<'_>, args: Interview) -> Result<String, AskError> {
    let mut answers = Vec::new();
    for number in 1..=args.questions {
        let key = format!("q{number}");
        let answer: String = cx.ask(&key, format!("Question {number}?")).await?;
        answers.push(format!("{answer} (process {})", std::process::id()));
    }
    Ok(answers.join(", "))
}
