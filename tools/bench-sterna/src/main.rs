//! The server that the benchmarks measure, as an author would write it.
//!
//! Every setting has its default: origins, headers, sealing, limits and the
//! validation of arguments and answers are all on.

use std::future::ready;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Result;
use clap::Parser;
use schemars::JsonSchema;
use serde::Deserialize;
use sterna_server::http::HttpConfig;
use sterna_server::{Cx, Server, ServerConfig, TaskMode, Tool, ToolError};
use sterna_store::{MemoryLimits, MemoryStore, UnixMillis};

/// The allocator of the `sterna` command; without the feature, that of the C
/// library.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
struct Args {
    /// Where to listen; port 0 takes any that is free
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// How many more tools to offer, to see what a long list costs
    #[arg(long, default_value_t = 0)]
    more_tools: usize,
    /// How many may listen for changes at once, to see what a crowd costs
    #[arg(long)]
    listeners: Option<usize>,
    /// Offer `rounds` and `steps` too, to see what long flows cost
    #[arg(long)]
    growth: bool,
    /// Offer `hold` too, a task that asks, to see what waiting ones cost
    #[arg(long)]
    tasks: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Message {
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Person {
    name: String,
}

async fn echo(_: Cx<'_>, args: Message) -> String {
    args.message
}

async fn ask(cx: Cx<'_>, args: Message) -> Result<String, ToolError> {
    let person: Person = cx.ask("name", "What is your name?").await?;
    Ok(format!("{}, {}", args.message, person.name))
}

/// Asks with the message in the question, so that questions differ.
async fn ask_about(cx: Cx<'_>, args: Message) -> Result<String, ToolError> {
    let question = format!("What is your name, for {}?", args.message);
    let person: Person = cx.ask("name", &question).await?;
    Ok(format!("{}, {}", args.message, person.name))
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    count: u32,
}

/// Asks so many questions, one after the other.
async fn rounds(cx: Cx<'_>, args: Count) -> Result<String, ToolError> {
    let mut names = Vec::new();
    for _ in 0..args.count {
        let person: Person = cx.ask("name", "What is your name?").await?;
        names.push(person.name);
    }
    Ok(names.join(", "))
}

/// Remembers so many results of a hundred bytes, then asks.
async fn steps(cx: Cx<'_>, args: Count) -> Result<String, ToolError> {
    for _ in 0..args.count {
        cx.step("row", || ready("x".repeat(100))).await;
    }
    let person: Person = cx.ask("name", "What is your name?").await?;
    Ok(person.name)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a store in memory is handed its clock"
)]
fn clock() -> UnixMillis {
    SystemTime::now().into()
}

/// One worker, as every server in the comparison has.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let args = Args::parse();
    let mut server = Server::new("bench", env!("CARGO_PKG_VERSION"))
        .tool("echo", "Says the message again", echo)
        .tool("ask", "Asks for a name first", ask)
        .tool(
            "ask_about",
            "Asks for a name first, with the message in its question",
            ask_about,
        );
    for n in 0..args.more_tools {
        server = server.tool(&format!("echo-{n}"), "Says the message again", echo);
    }
    if args.growth {
        server = server
            .tool("rounds", "Asks so many questions", rounds)
            .tool("steps", "Remembers so many results", steps);
    }
    if args.tasks {
        let mut config = ServerConfig::default();
        // They are not going to be answered: none has to stay at hand.
        config.tasks.linger = Duration::ZERO;
        let store = MemoryStore::with_clock(MemoryLimits::default(), clock);
        let hold = Tool::new("hold", "Asks for a name as a task", ask);
        server = server
            .offer(hold.task(TaskMode::Always))
            .store(Arc::new(store))
            .config(config);
    }
    if let Some(listeners) = args.listeners {
        let mut http = HttpConfig::default();
        http.limits.listeners = listeners;
        http.limits.connections += listeners;
        server = server.http(http);
    }
    let service = server.build()?;
    let listener = TcpListener::bind(args.listen)?;
    let address = listener.local_addr()?;
    writeln!(std::io::stdout(), "listening on http://{address}/mcp")?;
    service
        .serve_on(listener, sterna_server::http::interrupted())
        .await?;
    Ok(())
}
