//! The server that the official conformance suite is run against.
//!
//! Everything here is what an author would write. Sealing, capability checks,
//! header checks and the checking of answers are the library's; the fixture
//! does none of it.

mod content;
mod forms;
mod prompts;
mod questions;
mod resources;
mod skills;
mod streams;
mod tasks;

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use anyhow::Result;
use clap::Parser;
use sterna_server::Server;
use sterna_store_sqlite::{Config, SqliteStore};

/// The fixture of the conformance suite.
#[derive(Parser)]
struct Args {
    /// Where to listen; port 0 takes any that is free.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let server = Server::new("sterna-conformance", env!("CARGO_PKG_VERSION"));
    let server = content::offer(server);
    let server = streams::offer(server);
    let server = questions::offer(server);
    let server = forms::offer(server);
    let server = prompts::offer(server);
    let server = resources::offer(server);
    let server = skills::offer(server);
    let server = tasks::offer(server);
    let folder = tempfile::tempdir()?;
    let store = SqliteStore::open(folder.path().join("tasks.db"), Config::default())?;
    let service = server.store(Arc::new(store)).dynamic_lists().build()?;
    let listener = TcpListener::bind(args.listen)?;
    let address = listener.local_addr()?;
    writeln!(std::io::stdout(), "listening on http://{address}/mcp")?;
    service
        .serve_on(listener, sterna_server::http::interrupted())
        .await?;
    Ok(())
}
