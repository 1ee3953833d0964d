//! Telling whoever listens that a resource has changed. A stream stays open
//! until one of the two ends it, and a server that leaves says so.
//!
//! ```text
//! $ cargo run --bin subscriptions
//! reader: tell me about terns://count
//! writer: sight
//! reader: terns://count has changed: "1 tern"
//! reader: the server has left
//! ```

use std::future::pending;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::bail;
use examples::say;
use sterna_client::{Change, Client};
use sterna_protocol::resource::ResourceContents;
use sterna_protocol::subscription::SubscriptionFilter;
use sterna_server::http::Shutdown;
use sterna_server::{Cx, Server, Uri};

async fn sight(cx: Cx<'_>, (): ()) -> &'static str {
    cx.state::<AtomicU32>().fetch_add(1, Ordering::Relaxed);
    cx.request().changes().resource(COUNT);
    "noted"
}

async fn count(cx: Cx<'_>, _: Uri) -> String {
    format!("{} tern", cx.state::<AtomicU32>().load(Ordering::Relaxed))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let service = Server::new("terns", env!("CARGO_PKG_VERSION"))
        .state(AtomicU32::new(0))
        .tool("sight", "Notes that a tern was seen", sight)
        .resource(COUNT, "count", count)
        .log_to_stderr()
        .build()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let shutdown = service.shutdown().clone();
    let reading = async {
        let read = listen(&url, &shutdown).await;
        shutdown.begin();
        read
    };
    let (served, read) = tokio::join!(service.serve_on(listener, pending()), reading);
    served?;
    read
}

async fn listen(url: &str, shutdown: &Shutdown) -> anyhow::Result<()> {
    let client = Client::connect(url).await?;
    say(format_args!("reader: tell me about {COUNT}"))?;
    let mut filter = SubscriptionFilter::default();
    filter.resource_subscriptions = Some(vec![COUNT.to_owned()]);
    let mut changes = client.listen(filter).await?;

    say("writer: sight")?;
    client.call("sight").await?;

    let Some(Change::Resource(uri)) = changes.next().await? else {
        bail!("something else has changed");
    };
    let read = client.read(&uri).await?;
    let Some(ResourceContents::Text(count)) = read.contents.first() else {
        bail!("not text");
    };
    say(format_args!("reader: {uri} has changed: {:?}", count.text))?;

    shutdown.begin();
    if changes.next().await?.is_none() {
        say("reader: the server has left")?;
    }
    client.close().await;
    Ok(())
}

const COUNT: &str = "terns://count";
