//! A server whose tools change while it runs. Whoever listens is told, and a
//! tool that is gone is unknown.
//!
//! ```text
//! $ cargo run --bin changing
//! client: tools are hire
//! client: hire
//! client: the tools have changed: hire, fire
//! client: fire
//! client: the tools have changed: hire
//! client: fire is refused, -32602
//! ```

use std::future::pending;
use std::net::TcpListener;

use anyhow::bail;
use examples::say;
use sterna_client::{Change, Client};
use sterna_protocol::subscription::SubscriptionFilter;
use sterna_server::{Cx, Edit, Server, Tool, ToolError};

/// Brings a tool along.
async fn hire(cx: Cx<'_>, (): ()) -> Result<&'static str, ToolError> {
    let fire = Tool::new("fire", "Ends what was begun", fire);
    cx.request().changes().update(Edit::new().offer(fire))?;
    Ok("hired")
}

/// Goes away by itself; what runs is seen to its end.
async fn fire(cx: Cx<'_>, (): ()) -> Result<&'static str, ToolError> {
    let edit = Edit::new().without_tool("fire");
    cx.request().changes().update(edit)?;
    Ok("fired")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let service = Server::new("office", env!("CARGO_PKG_VERSION"))
        .tool("hire", "Hires somebody", hire)
        .dynamic_lists()
        .log_to_stderr()
        .build()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let shutdown = service.shutdown().clone();
    let talking = async {
        let talked = talk(&url).await;
        shutdown.begin();
        talked
    };
    let (served, talked) = tokio::join!(service.serve_on(listener, pending()), talking);
    served?;
    talked
}

async fn talk(url: &str) -> anyhow::Result<()> {
    let client = Client::connect(url).await?;
    say(format_args!("client: tools are {}", names(&client).await?))?;
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    let mut changes = client.listen(filter).await?;

    for tool in ["hire", "fire"] {
        say(format_args!("client: {tool}"))?;
        client.call(tool).await?;
        let Some(Change::Tools) = changes.next().await? else {
            bail!("something else has changed");
        };
        let names = names(&client).await?;
        say(format_args!("client: the tools have changed: {names}"))?;
    }

    match client.call("fire").await {
        Ok(_) => bail!("there is no such tool"),
        Err(error) => {
            let code = error.rpc().map_or(0, |error| error.code.0);
            say(format_args!("client: fire is refused, {code}"))?;
        }
    }
    client.close().await;
    Ok(())
}

async fn names(client: &Client) -> anyhow::Result<String> {
    let tools = client.tools().all().await?;
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    Ok(names.join(", "))
}
