//! A server to be inspected, in this process.

use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sterna_protocol::sampling::SamplingMessageContentBlock;
use sterna_seal::{Key, Keyring, SecretKey};
use sterna_server::{
    AskError, CompletionRequest, Cx, Level, Progress, Prompt, SamplingRequest, Server,
    ServerConfig, TaskMode, Tool, ToolError,
};
use sterna_store::MemoryStore;

/// Starts a server on a port of its own; it ends with the test.
pub(crate) fn start() -> String {
    serve(desk())
}

/// Starts a server that accepts each state once.
pub(crate) fn start_single_use() -> String {
    let tool = Tool::new("deploy", "Deploys after asking", deploy).single_use();
    let server = Server::new("desk", "1.0.0").keys(keys());
    serve(server.store(Arc::new(MemoryStore::new())).offer(tool))
}

/// Starts a server whose tool runs as a task.
pub(crate) fn start_with_tasks() -> String {
    let mut config = ServerConfig::default();
    config.tasks.poll_interval = Duration::from_millis(50);
    let tool = Tool::new("deploy", "Deploys after asking", deploy).task(TaskMode::Always);
    let server = Server::new("desk", "1.0.0").config(config);
    serve(server.store(Arc::new(MemoryStore::new())).offer(tool))
}

pub(crate) fn serve(server: Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let service = server.build().unwrap();
    thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let served = service.serve_on(listener, std::future::pending());
        runtime.block_on(served).unwrap();
    });
    format!("http://{address}/mcp")
}

/// The keys of the server.
pub(crate) fn keys() -> Keyring {
    let secret = SecretKey::from_bytes(b"the secret of this test has 32 bytes").unwrap();
    Keyring::new([Key::new(secret)]).unwrap()
}

pub(crate) fn desk() -> Server {
    Server::new("desk", "1.0.0")
        .keys(keys())
        .tool("add", "Adds numbers", add)
        .tool("order", "Takes an order with everything in it", order)
        .tool("deploy", "Deploys after asking", deploy)
        .tool("destroy", "Asks the same as deploy", deploy)
        .tool("survey", "Asks for everything a form can hold", survey)
        .tool("visit", "Sends the user to a page", visit)
        .tool("write", "Has a model write", write)
        .tool("folders", "Asks for folders", folders)
        .tool("render", "Tells of its progress and never ends", render)
        .tool("brood", "Asks, and then never ends", brood)
        .tool("fail", "Returns an error", fail)
        .offer(Prompt::new("brief", "Writes a brief", brief).completing("topic", topics))
        .resource_template("note://{id}", "note", note)
}

#[derive(Deserialize, JsonSchema)]
struct Numbers {
    #[schemars(range(min = 0, max = 99))]
    left: i32,
    right: i32,
}

async fn add(_: Cx<'_>, numbers: Numbers) -> String {
    (numbers.left + numbers.right).to_string()
}

#[derive(Deserialize, JsonSchema, Serialize)]
struct Order {
    /// Who ordered
    name: String,
    size: Size,
    to: Address,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    extras: Vec<Size>,
    #[serde(default)]
    lines: Vec<Line>,
    #[serde(default)]
    gift: bool,
}

#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum Size {
    Small,
    Large,
}

#[derive(Deserialize, JsonSchema, Serialize)]
struct Address {
    street: String,
}

#[derive(Deserialize, JsonSchema, Serialize)]
struct Line {
    item: String,
    count: u32,
}

async fn order(_: Cx<'_>, order: Order) -> String {
    serde_json::to_string(&order).unwrap()
}

#[derive(Deserialize, JsonSchema)]
struct Deploy {
    service: String,
}

async fn deploy(cx: Cx<'_>, args: Deploy) -> Result<String, ToolError> {
    let plan = format!("plan for {}", args.service);
    let plan = cx.step("plan", async || plan).await;
    let reason: String = cx
        .ask("reason", format!("Why deploy {}?", args.service))
        .await?;
    let owner: String = cx.ask("owner", "Who owns it?").await?;
    Ok(format!("{plan}: {reason}, {owner}"))
}

#[derive(Deserialize, JsonSchema, Serialize)]
struct Survey {
    /// As in your passport
    #[schemars(length(min = 2))]
    name: String,
    #[schemars(range(min = 18, max = 99))]
    age: u8,
    size: Size,
    #[serde(default)]
    newsletter: bool,
    extras: Vec<Size>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(email)]
    mail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date"))]
    born: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(url)]
    page: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    colour: Option<Colour>,
}

#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum Colour {
    /// As the sea
    Blue,
    /// As the bill of a tern
    Red,
}

async fn survey(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    match cx
        .ask::<Survey>("survey", "Please tell us about you.")
        .await
    {
        Ok(survey) => Ok(serde_json::to_string(&survey).unwrap()),
        Err(AskError::Declined) => Ok("was declined".to_owned()),
        Err(AskError::Cancelled) => Ok("was cancelled".to_owned()),
        Err(refused) => Err(refused),
    }
}

async fn visit(cx: Cx<'_>, (): ()) -> Result<&'static str, AskError> {
    let page = "https://login.example/start?next=%2Fhome".parse().unwrap();
    cx.ask_url("signin", "Please sign in", page).await?;
    Ok("visited")
}

async fn write(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let written = cx
        .sample("poem", SamplingRequest::new("Write a line", 100))
        .await?;
    let text = written
        .content
        .blocks()
        .iter()
        .find_map(|block| match block {
            SamplingMessageContentBlock::Text(text) => Some(text.text.clone()),
            _ => None,
        });
    Ok(format!("{}: {}", written.model, text.unwrap()))
}

async fn folders(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let roots = cx.roots("roots").await?;
    let uris: Vec<_> = roots.iter().map(|root| root.uri.as_str()).collect();
    Ok(uris.join(" "))
}

async fn render(cx: Cx<'_>, (): ()) -> &'static str {
    cx.log(Level::Info, "the brush is wet");
    cx.progress(Progress::new(1.0).of(4.0).saying("drawing the sky"));
    tokio::time::sleep(Duration::from_secs(3600)).await;
    "never"
}

/// Asks, and then never ends.
async fn brood(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let eggs: String = cx.ask("eggs", "How many?").await?;
    tokio::time::sleep(Duration::from_secs(3600)).await;
    Ok(eggs)
}

async fn fail(_: Cx<'_>, (): ()) -> Result<String, ToolError> {
    Err(ToolError::new("the disk is full"))
}

#[derive(Deserialize, JsonSchema)]
struct Brief {
    /// Subject of the brief
    topic: String,
}

async fn brief(cx: Cx<'_>, args: Brief) -> Result<String, sterna_server::RequestError> {
    let audience: String = cx.ask("audience", "For whom?").await?;
    Ok(format!("Brief about {} for {audience}", args.topic))
}

/// Topics that begin with what was typed.
async fn topics(typed: CompletionRequest) -> Vec<String> {
    let topics = ["terns", "terraces", "tides"].into_iter();
    let begun = topics.filter(|topic| topic.starts_with(&typed.value));
    begun.map(str::to_owned).collect()
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    id: String,
}

async fn note(cx: Cx<'_>, note: Note) -> Result<String, sterna_server::RequestError> {
    let pin: String = cx.ask("pin", "What is the PIN?").await?;
    Ok(format!("note {} unlocked with {pin}", note.id))
}
