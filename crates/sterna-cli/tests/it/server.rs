//! A server for the command to call, in this process.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use http::request::Parts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sterna_protocol::input::{InputRequired, RequestState};
use sterna_protocol::result::Outcome;
use sterna_protocol::sampling::SamplingMessageContentBlock;
use sterna_protocol::tool::CallToolResult;
use sterna_seal::{Key, Keyring, SecretKey};
use sterna_server::auth::{Gate, Principal, StaticTokens};
use sterna_server::{
    Answers, AskError, Call, Cx, Edit, Level, Progress, RequestError, SamplingRequest, Server,
    ServerConfig, TaskMode, Tool, ToolError,
};
use sterna_store::{MemoryLimits, MemoryStore, UnixMillis};

/// Starts an instance on a port of its own; it ends with the test.
pub(crate) fn start() -> String {
    serve(server())
}

/// Starts an instance that only lets in who shows `token`.
pub(crate) fn start_guarded(token: &str) -> String {
    let tokens = StaticTokens::parse(&format!("{token} alice")).unwrap();
    serve(server().gate(Gate::guarded(tokens)))
}

/// An instance that sees every head.
pub(crate) struct Tapped {
    pub(crate) url: String,
    heads: Arc<Mutex<String>>,
}

impl Tapped {
    /// The header fields of all requests.
    pub(crate) fn heads(&self) -> String {
        self.heads.lock().unwrap().clone()
    }
}

/// Starts an instance that lets in who shows a token that begins with `prefix`.
pub(crate) fn start_tapped(prefix: &'static str) -> Tapped {
    let heads = Arc::new(Mutex::new(String::new()));
    let tap = Arc::clone(&heads);
    let url = serve(server().callers(move |head: &Parts| {
        let shown = head.headers.get("authorization")?.to_str().ok()?;
        tap.lock()
            .unwrap()
            .push_str(&format!("{:?} {shown}\n", head.headers));
        let token = shown.strip_prefix("Bearer ")?;
        token
            .starts_with(prefix)
            .then(|| Principal::named("upstream", token))
    }));
    Tapped { url, heads }
}

/// Starts an instance whose calls are tasks.
pub(crate) fn start_with_tasks() -> String {
    // Time stands still there: nothing in these tests may wait for a lease to end.
    let store = MemoryStore::with_clock(MemoryLimits::default(), || UnixMillis::new(0));
    let mut config = ServerConfig::default();
    config.tasks.poll_interval = Duration::from_millis(50);
    let task = |tool: Tool| tool.task(TaskMode::Always);
    serve(
        Server::new("newsroom", "1.0.0")
            .store(Arc::new(store))
            .config(config)
            .offer(task(Tool::new("publish", "Publishes a title", publish)))
            .offer(task(Tool::new("break", "Returns an error", fail)))
            .offer(task(Tool::new("stall", "Never ends", sleep)))
            .tool("touch", "Adds a tool", touch)
            .dynamic_lists(),
    )
}

/// Starts what the manual calls.
pub(crate) fn start_documented() -> String {
    let store = MemoryStore::with_clock(MemoryLimits::default(), || UnixMillis::new(0));
    let mut config = ServerConfig::default();
    config.tasks.poll_interval = Duration::from_millis(50);
    let publish = Tool::new("publish", "Publishes a title", announce);
    serve(
        Server::new("documented", "1.0.0")
            .keys(Keyring::new([Key::new(secret())]).unwrap())
            .store(Arc::new(store))
            .config(config)
            .offer(publish.task(TaskMode::Always))
            .tool("deploy", "Deploys a service after asking why", roll_out)
            .tool("login", "Asks for a password", login),
    )
}

/// Starts an instance that knows no earlier revisions.
pub(crate) fn start_modern() -> String {
    serve(server().without_sessions())
}

/// Starts an instance whose tools take their time.
pub(crate) fn start_workshop() -> String {
    serve(
        Server::new("workshop", "1.0.0")
            .keys(Keyring::new([Key::new(secret())]).unwrap())
            .tool("login", "Asks for a password", login)
            .tool("render", "Asks, and then tells of its progress", render)
            .tool("chatter", "Says what it does", chatter)
            .offer(Tool::low_level("queue", "Is called three times", queue)),
    )
}

fn serve(server: Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let service = server.build().unwrap();
    thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime
            .block_on(service.serve_on(listener, std::future::pending()))
            .unwrap();
    });
    format!("http://{address}/mcp")
}

/// All instances have the same keys.
pub(crate) fn secret() -> SecretKey {
    SecretKey::from_bytes(b"the secret of this test has 32 bytes").unwrap()
}

fn server() -> Server {
    Server::new("desk", "1.0.0")
        .keys(Keyring::new([Key::new(secret())]).unwrap())
        .tool("echo", "Says it again", echo)
        .tool("fail", "Returns an error", fail)
        .tool("deploy", "Deploys after asking", deploy)
        .tool("survey", "Asks for everything a form can hold", survey)
        .tool("confirm", "Asks for a yes", confirm)
        .tool("visit", "Sends the user to a page", visit)
        .tool("write", "Has a model write", write)
        .tool("folders", "Asks for folders", folders)
        .tool("sleep", "Never ends", sleep)
        .prompt("brief", "Writes a brief", brief)
        .resource_template("note://{id}", "note", note)
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
    #[serde(default)]
    times: Option<u32>,
}

async fn echo(_: Cx<'_>, args: Echo) -> String {
    vec![args.text; args.times.unwrap_or(1) as usize].join(" ")
}

async fn fail(_: Cx<'_>, (): ()) -> Result<String, ToolError> {
    Err(ToolError::new("the disk is full"))
}

#[derive(Deserialize, JsonSchema)]
struct Deploy {
    service: String,
}

async fn deploy(cx: Cx<'_>, args: Deploy) -> Result<String, ToolError> {
    let plan = plan(&cx, &args.service).await?;
    let reason: String = cx
        .ask("reason", format!("Why deploy {}?", args.service))
        .await?;
    let owner: String = cx.ask("owner", "Who owns it?").await?;
    Ok(format!("{plan}: {reason}, {owner}"))
}

async fn plan(cx: &Cx<'_>, service: &str) -> Result<String, ToolError> {
    let plan = format!("plan for {service}");
    Ok(cx.step("plan", async || plan).await)
}

#[derive(Deserialize, JsonSchema)]
struct Publish {
    title: String,
}

async fn publish(cx: Cx<'_>, args: Publish) -> Result<String, ToolError> {
    let question = format!("Who approves {}?", args.title);
    let name: String = cx.ask("approval", question).await?;
    let when: String = cx.ask("date", "When?").await?;
    Ok(format!("{} approved by {name} for {when}", args.title))
}

#[derive(Deserialize, JsonSchema)]
struct Login {
    user: String,
    password: String,
}

async fn login(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let Login { user, password } = cx.ask("login", "Who are you?").await?;
    Ok(format!("{user} has {} characters", password.len()))
}

async fn render(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let size: String = cx.ask("size", "How large?").await?;
    cx.progress(Progress::new(1.0).of(4.0).saying("drawing"));
    tokio::time::sleep(Duration::from_secs(3600)).await;
    Ok(size)
}

async fn chatter(cx: Cx<'_>, (): ()) -> &'static str {
    cx.log(Level::Debug, "details");
    cx.log(Level::Info, "half-way");
    cx.log(Level::Warning, "the disk is nearly full");
    "done"
}

/// Wants to be called again until it is the third time.
async fn queue(call: Call, _: Answers) -> Result<Outcome<CallToolResult>, AskError> {
    let turns = call.state().map_or(1, |state| state.len() + 1);
    if turns < 3 {
        let state = RequestState::new("x".repeat(turns));
        return Ok(Outcome::InputRequired(InputRequired::retry_with(state)));
    }
    Ok(Outcome::Complete(CallToolResult::text("your turn")))
}

async fn roll_out(cx: Cx<'_>, args: Deploy) -> Result<String, ToolError> {
    let question = format!("Why deploy {}?", args.service);
    let reason: String = cx.ask("reason", question).await?;
    Ok(format!("{} deployed: {reason}", args.service))
}

#[derive(Deserialize, JsonSchema)]
struct Approval {
    name: String,
}

async fn announce(cx: Cx<'_>, args: Publish) -> Result<String, ToolError> {
    let question = format!("Who approves {}?", args.title);
    let Approval { name } = cx.ask("approval", question).await?;
    Ok(format!("{} is out, approved by {name}", args.title))
}

async fn touch(cx: Cx<'_>, (): ()) -> &'static str {
    let tool = Tool::new("touched", "Came when it was called for", deploy);
    let edit = Edit::new().offer(tool);
    cx.request().changes().update(edit).unwrap();
    "touched"
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Survey {
    /// As in your passport
    #[schemars(length(min = 2))]
    name: String,
    #[schemars(range(min = 18, max = 99))]
    age: u8,
    color: Color,
    #[serde(default)]
    newsletter: bool,
    toppings: Vec<Topping>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Color {
    Red,
    Green,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Topping {
    Ham,
    Olives,
    Corn,
}

async fn survey(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    match cx
        .ask::<Survey>("survey", "Please tell us about you.")
        .await
    {
        Ok(survey) => Ok(serde_json::to_string(&survey).unwrap()),
        Err(AskError::Declined) => Ok("declined".to_owned()),
        Err(AskError::Cancelled) => Ok("cancelled".to_owned()),
        Err(refused) => Err(refused),
    }
}

async fn confirm(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let agreed = cx.confirm("sure", "Are you sure?").await?;
    Ok(format!("agreed: {agreed}"))
}

async fn visit(cx: Cx<'_>, (): ()) -> Result<&'static str, AskError> {
    let page = "https://login.example/start".parse().unwrap();
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
    Ok(roots
        .iter()
        .map(|root| root.uri.as_str())
        .collect::<Vec<_>>()
        .join(" "))
}

async fn sleep(_: Cx<'_>, (): ()) -> &'static str {
    tokio::time::sleep(Duration::from_secs(3600)).await;
    "awake"
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
