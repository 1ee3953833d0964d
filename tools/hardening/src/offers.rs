//! What the server under test offers: the names that the official examples
//! call, so that a request which is wrong in one place is right in all others.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use schemars::JsonSchema;
use serde::Deserialize;
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::http::HttpConfig;
use sterna_server::{Changes, Cx, Prompt, RequestError, Server, Service, ToolError, Uri};
use tokio::sync::Semaphore;

/// How the server under test meets the network.
#[derive(Args, Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Calls at once
    #[arg(long, default_value_t = 512)]
    pub calls: usize,
    /// Open connections
    #[arg(long, default_value_t = 4096)]
    pub connections: usize,
    /// Open listeners
    #[arg(long, default_value_t = 2048)]
    pub listeners: usize,
    /// Serve named callers only: `greedy` and `modest`
    #[arg(long)]
    pub named: bool,
    /// How long a peer may hold us up, in milliseconds
    #[arg(long, default_value_t = 30_000)]
    pub patience: u64,
}

/// What the server has done, for those who ask after its end, and what it
/// still holds back.
#[derive(Clone, Debug)]
pub struct Deeds {
    begun: Arc<AtomicU64>,
    finished: Arc<AtomicU64>,
    /// Closed when nothing is held back any more.
    gate: Arc<Semaphore>,
}

impl Default for Deeds {
    fn default() -> Self {
        Self {
            begun: Arc::default(),
            finished: Arc::default(),
            gate: Arc::new(Semaphore::new(0)),
        }
    }
}

impl Deeds {
    /// Calls of `slow` that were begun, and those that were finished.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        let read = |count: &AtomicU64| count.load(Ordering::SeqCst);
        (read(&self.begun), read(&self.finished))
    }

    /// Lets all calls of `hold` end.
    pub fn release(&self) {
        self.gate.close();
    }
}

/// Builds the server under test.
///
/// # Errors
///
/// The server cannot be built.
pub fn build(settings: &Settings, deeds: Deeds) -> Result<Service> {
    let mut http = HttpConfig::default();
    http.metrics = true;
    http.limits.calls = settings.calls;
    http.limits.connections = settings.connections;
    http.limits.listeners = settings.listeners;
    let patience = Duration::from_millis(settings.patience);
    for time in [
        &mut http.timeouts.head,
        &mut http.timeouts.body,
        &mut http.timeouts.idle,
        &mut http.timeouts.write,
    ] {
        *time = patience;
    }
    let changes = Arc::new(OnceLock::<Changes>::new());
    let review = Prompt::new("code_review", "Reviews code", review)
        .completing("language", |_| async { vec!["python".to_owned()] });
    let service = Server::new("subject", "1")
        .http(http)
        .state(deeds)
        .state(Arc::clone(&changes))
        .tool("get_weather", "Says how the weather is", get_weather)
        .tool("book", "Books seats after asking", book)
        .tool("slow", "Takes its time", slow)
        .tool("hold", "Keeps its place until it is released", hold)
        .tool("long", "Says much", long)
        .tool("shout", "Tells every listener, over and over", shout)
        .offer(review)
        .resource(RESOURCE, "main.rs", read);
    let service = match settings.named {
        true => {
            let tokens = format!("{GREEDY_TOKEN} greedy\n{MODEST_TOKEN} modest\n");
            service.gate(Gate::guarded(StaticTokens::parse(&tokens)?))
        }
        false => service,
    };
    let service = service.build()?;
    let _ = changes.set(service.changes().clone());
    Ok(service)
}

#[derive(Deserialize, JsonSchema)]
struct Weather {
    location: String,
}

async fn get_weather(_: Cx<'_>, weather: Weather) -> Result<String, ToolError> {
    Ok(format!("sunny in {}", weather.location))
}

async fn book(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let (seats, when) = tokio::join!(
        cx.ask::<u32>("seats", "How many?"),
        cx.ask::<String>("when", "When?"),
    );
    Ok(format!("{} seats, {}", seats?, when?))
}

#[derive(Deserialize, JsonSchema)]
struct Slow {
    millis: u64,
}

async fn slow(cx: Cx<'_>, slow: Slow) -> Result<String, ToolError> {
    let deeds = cx.state::<Deeds>().clone();
    deeds.begun.fetch_add(1, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(slow.millis)).await;
    deeds.finished.fetch_add(1, Ordering::SeqCst);
    Ok("done".to_owned())
}

async fn hold(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let gate = Arc::clone(&cx.state::<Deeds>().gate);
    // A gate that is closed lets everybody go.
    let _ = gate.acquire().await;
    Ok("released".to_owned())
}

#[derive(Deserialize, JsonSchema)]
struct Long {
    bytes: usize,
}

async fn long(_: Cx<'_>, long: Long) -> Result<String, ToolError> {
    Ok("x".repeat(long.bytes))
}

#[derive(Deserialize, JsonSchema)]
struct Shout {
    times: u32,
}

async fn shout(cx: Cx<'_>, shout: Shout) -> Result<String, ToolError> {
    if let Some(changes) = cx.state::<Arc<OnceLock<Changes>>>().get() {
        for _ in 0..shout.times {
            changes.resource(RESOURCE);
        }
    }
    Ok("said".to_owned())
}

#[derive(Deserialize, JsonSchema)]
struct Review {
    code: String,
    language: Option<String>,
}

async fn review(_: Cx<'_>, review: Review) -> Result<String, RequestError> {
    let language = review.language.unwrap_or_default();
    Ok(format!("Review this {language}: {}", review.code))
}

async fn read(_: Cx<'_>, _: Uri) -> Result<String, RequestError> {
    Ok("fn main() {}".to_owned())
}

/// The token of a caller that takes all it can get.
pub(crate) const GREEDY_TOKEN: &str = "token-of-the-greedy-caller";

/// The token of a caller that calls now and then.
pub(crate) const MODEST_TOKEN: &str = "token-of-the-modest-caller";

/// The resource that there is, and of which listeners hear.
pub(crate) const RESOURCE: &str = "file:///project/src/main.rs";
