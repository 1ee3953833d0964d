//! A server for foreign clients: every kind of question, on tools, prompts and
//! resources.
//!
//! ```text
//! $ cargo run --bin interop -- --listen 127.0.0.1:8080
//! listening on http://127.0.0.1:8080/mcp
//! ```

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use clap::Parser;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sterna_protocol::input::{InputRequired, RequestState};
use sterna_protocol::result::Outcome;
use sterna_protocol::sampling::SamplingMessageContentBlock;
use sterna_protocol::tool::CallToolResult;
use sterna_seal::SharedKeyring;
use sterna_server::edge::interrupted;
use sterna_server::{Answers, Call, Cx, Refused, RequestError, Script, Server, Tool, ToolError};

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
        #[expect(clippy::disallowed_methods, reason = "a program has a clock")]
        let now = SystemTime::now();
        server = server.shared_keys(Arc::new(SharedKeyring::from_file(file, now.into())?));
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
struct Echo {
    text: String,
}

async fn echo(_: Cx<'_>, args: Echo) -> String {
    format!("echo: {}", args.text)
}

async fn ask_name(cx: Cx<'_>, (): ()) -> Result<String, Refused> {
    match cx.ask::<String>("name", "What is your name?").await {
        Ok(name) => Ok(format!("Hello, {name}!")),
        Err(Refused::Declined) => Ok("refused: decline".to_owned()),
        Err(Refused::Cancelled) => Ok("refused: cancel".to_owned()),
        Err(refused) => Err(refused),
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Profile {
    #[schemars(length(min = 1))]
    name: String,
    #[schemars(range(min = 18, max = 99))]
    age: u8,
    #[serde(default)]
    newsletter: bool,
    color: Color,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Color {
    Red,
    Green,
}

async fn multi(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let (profile, capital, roots) = tokio::join!(
        cx.ask::<Profile>("profile", "Who are you?"),
        cx.sample(
            "capital",
            Script::new("What is the capital of France?", 100)
        ),
        cx.roots("roots"),
    );
    let capital = capital?;
    let text = capital
        .content
        .blocks()
        .iter()
        .find_map(|block| match block {
            SamplingMessageContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
    Ok(json!({"profile": profile?, "sample": text, "roots": roots?}).to_string())
}

async fn two_rounds(cx: Cx<'_>, (): ()) -> Result<String, Refused> {
    let first: String = cx.ask("first", "First?").await?;
    let second: String = cx.ask("second", "Second?").await?;
    Ok(format!("first={first};second={second}"))
}

#[derive(Deserialize, JsonSchema)]
struct Shed {
    #[serde(default = "two")]
    times: u32,
}

const fn two() -> u32 {
    2
}

async fn shed(call: Call, _: Answers) -> Result<Outcome<CallToolResult>, ToolError> {
    let Shed { times } = call.arguments()?;
    if call.round() < times {
        let state = RequestState::new("on the way");
        return Ok(Outcome::InputRequired(InputRequired::retry_with(state)));
    }
    let text = format!("done after {times} shed rounds");
    Ok(Outcome::Complete(CallToolResult::text(text)))
}

async fn ask_url(cx: Cx<'_>, (): ()) -> Result<&'static str, Refused> {
    let page = "https://example.com/signin";
    let page = page.parse().expect("it is a URL");
    cx.ask_url("signin", "Please sign in", page).await?;
    Ok("url: accept")
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
