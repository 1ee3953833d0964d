//! A server for foreign clients: every kind of question, on tools, prompts and
//! resources.
//!
//! ```text
//! $ cargo run --bin interop -- --listen 127.0.0.1:8080
//! listening on http://127.0.0.1:8080/mcp
//! ```

mod tools;

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use clap::Parser;
use schemars::JsonSchema;
use serde::Deserialize;
use sterna_server::http::interrupted;
use sterna_server::{Cx, RequestError, Server, Tool};

use tools::{Shed, ask_name, ask_url, echo, multi, shed, two_rounds};

#[derive(Parser)]
struct Args {
    /// Where to listen; port 0 takes any that is free.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The keys to share with other instances.
    #[arg(long)]
    key_file: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let mut server = Server::new("interop", env!("CARGO_PKG_VERSION"))
        .tool("echo", "Says it again", echo)
        .tool("ask_name", "Greets whoever is there", ask_name)
        .tool("multi", "Asks three things at once", multi)
        .tool("two_rounds", "Asks one thing after the other", two_rounds)
        .offer(Tool::low_level("shed", "Comes back without a question", shed).input::<Shed>())
        .tool("ask_url", "Sends the user to a page", ask_url)
        .prompt("brief", "Writes a brief", brief)
        .resource_template("note://{id}", "note", note);
    if let Some(file) = args.key_file {
        server = server.key_file(file);
    }
    let listener = TcpListener::bind(args.listen)?;
    writeln!(
        std::io::stdout(),
        "listening on http://{}/mcp",
        listener.local_addr()?
    )?;
    server.build()?.serve_on(listener, interrupted()).await?;
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
struct Brief {
    /// What the brief is about
    topic: String,
}

async fn brief(cx: Cx<'_>, args: Brief) -> Result<String, RequestError> {
    let audience: String = cx.ask("audience", "For whom?").await?;
    Ok(format!("Brief about {} for {audience}", args.topic))
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    id: String,
}

async fn note(cx: Cx<'_>, note: Note) -> Result<String, RequestError> {
    let pin: String = cx.ask("pin", "What is the PIN?").await?;
    Ok(format!("note {} unlocked with {pin}", note.id))
}
