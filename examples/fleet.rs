//! One instance of many: they share a key file and nothing else, and any of
//! them goes on with what another began.
//!
//! ```text
//! $ cargo run --bin fleet -- --key-file keys.toml --listen 127.0.0.1:8081
//! listening on http://127.0.0.1:8081/mcp
//! ```
//!
//! Start a second one on another port and put both behind a load balancer;
//! `docs/serving.md` has the lines for nginx.

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use clap::Parser;
use schemars::JsonSchema;
use serde::Deserialize;
use sterna_server::http::interrupted;
use sterna_server::{AskError, Cx, Server};

#[derive(Parser)]
struct Args {
    /// Where to listen; port 0 takes any that is free.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The keys that all instances share.
    #[arg(long)]
    key_file: PathBuf,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let server = Server::new("fleet", env!("CARGO_PKG_VERSION"))
        .tool("echo", "Says it again", echo)
        .tool("interview", "Asks one thing after the other", interview)
        .key_file(args.key_file)
        .log_to_stderr();
    let listener = TcpListener::bind(args.listen)?;
    let address = listener.local_addr()?;
    writeln!(std::io::stdout(), "listening on http://{address}/mcp")?;
    server.build()?.serve_on(listener, interrupted()).await?;
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

async fn echo(_: Cx<'_>, args: Echo) -> String {
    args.text
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
        answers.push(answer);
    }
    Ok(answers.join(" "))
}
