//! Servers behind the gateway: one of ours, over HTTP or as a process, spoken to
//! in either era.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use sterna_client::Era;
use sterna_gateway::{Connection, UpstreamConfig};
use sterna_server::{CompletionRequest, Cx, Level, Progress, Prompt, Server, ToolError, Uri};
use tokio::task::JoinSet;

use crate::serve;

#[derive(Deserialize, JsonSchema)]
struct Word {
    word: String,
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// Effects of the calls, counted.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) greeted: AtomicUsize,
    pub(crate) waiting: AtomicUsize,
    pub(crate) dropped: AtomicUsize,
}

async fn echo(_: Cx<'_>, args: Word) -> String {
    args.word
}

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let name: Name = cx.ask("who", "Who are you?").await?;
    let again: Name = cx.ask("again", format!("{}, really?", name.name)).await?;
    cx.state::<Arc<Counts>>()
        .greeted
        .fetch_add(1, Ordering::SeqCst);
    Ok(format!("Hello, {}!", again.name))
}

async fn fails(_: Cx<'_>, (): ()) -> Result<String, ToolError> {
    Err(ToolError::new("no such order"))
}

async fn pid(_: Cx<'_>, (): ()) -> String {
    std::process::id().to_string()
}

async fn die(_: Cx<'_>, (): ()) -> String {
    std::process::abort()
}

async fn count(cx: Cx<'_>, (): ()) -> &'static str {
    for done in [1.0, 2.0, 3.0] {
        cx.progress(Progress::new(done).of(3.0));
    }
    cx.log(Level::Warning, "counted to three");
    "three"
}

struct Dropped(Arc<Counts>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

async fn wait(cx: Cx<'_>, (): ()) -> String {
    let counts = cx.state::<Arc<Counts>>();
    let _dropped = Dropped(Arc::clone(counts));
    counts.waiting.fetch_add(1, Ordering::SeqCst);
    // A handler that nothing can wake would be refused as stalled.
    tokio::time::sleep(Duration::from_secs(3600)).await;
    "waited".to_owned()
}

async fn say(_: Cx<'_>, args: Word) -> String {
    format!("Say {}", args.word)
}

async fn suggest(typed: CompletionRequest) -> Vec<String> {
    vec![format!("{}ern", typed.value)]
}

async fn note(_: Cx<'_>, uri: Uri) -> String {
    format!("the text of {uri}")
}

#[derive(Deserialize, JsonSchema)]
struct Id {
    id: String,
}

async fn page(_: Cx<'_>, args: Id) -> String {
    format!("page {}", args.id)
}

pub(crate) fn server(counts: &Arc<Counts>) -> Server {
    Server::new("upstream", "1.0.0")
        .state(Arc::clone(counts))
        .tool("echo", "Says it again", echo)
        .tool("greet", "Greets by name", greet)
        .tool("fails", "Fails", fails)
        .tool("pid", "Says which process it is", pid)
        .tool("die", "Ends its process", die)
        .tool("count", "Counts to three", count)
        .tool("wait", "Waits for ever", wait)
        .offer(Prompt::new("say", "Says a word", say).completing("word", suggest))
        .resource("note://one", "one", note)
        .resource_template("page://{id}", "pages", page)
}

/// A server over HTTP.
pub(crate) struct Upstream {
    pub(crate) config: UpstreamConfig,
    pub(crate) counts: Arc<Counts>,
    pub(crate) serving: JoinSet<()>,
}

pub(crate) fn http(name: &str, era: Era) -> Upstream {
    let counts = Arc::new(Counts::default());
    let (url, serving) = serve(server(&counts));
    Upstream {
        config: at(name, &url, era),
        counts,
        serving,
    }
}

/// The way to a server at a URL.
pub(crate) fn at(name: &str, url: &str, era: Era) -> UpstreamConfig {
    let connection = Connection::Url {
        url: url.to_owned(),
        headers: BTreeMap::new(),
    };
    let mut config = UpstreamConfig::new(name, connection);
    config.era = era;
    config
}

/// A server that is a program.
pub(crate) fn program(name: &str, args: &[&str], era: Era) -> UpstreamConfig {
    let connection = Connection::Command {
        program: "sh".to_owned(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        env: BTreeMap::from([(CHILD.to_owned(), "1".to_owned())]),
        folder: None,
    };
    let mut config = UpstreamConfig::new(name, connection);
    config.era = era;
    config
}

/// The same server as over HTTP, as a process.
pub(crate) fn process(name: &str, era: Era) -> UpstreamConfig {
    // The harness of the tests writes to standard output, so messages take another way there.
    let script = r#"exec "$0" --exact upstream::a_child_serves_its_parent --nocapture 3>&1 1>&2"#;
    let this = std::env::current_exe().unwrap();
    program(name, &["-c", script, this.to_str().unwrap()], era)
}

const CHILD: &str = "STERNA_TEST_CHILD";

/// Not a test of its own: the process that [`process`] starts.
#[tokio::test]
async fn a_child_serves_its_parent() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let messages = std::fs::OpenOptions::new().write(true).open("/dev/fd/3");
    let writer = tokio::fs::File::from_std(messages.unwrap());
    let service = server(&Arc::default()).build().unwrap();
    let served = service.serve_lines(tokio::io::stdin(), writer).await;
    served.unwrap();
}
