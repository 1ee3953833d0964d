//! An instance that has too much to do sends a flow away at a checkpoint; what
//! was done travels with the client, and another instance goes on from there.
//!
//! ```text
//! $ cargo run --bin load_shedding
//! client: index {}
//! busy: read the pages
//! server: come again
//! idle: built the index
//! server: "1000 pages indexed"
//! ```

use std::sync::Arc;

use examples::{Conversation, keys, say};
use serde_json::json;
use sterna_seal::Keyring;
use sterna_server::http::HttpServer;
use sterna_server::{Cx, Mcp, Server, ServerConfig, ToolError};

struct Name(&'static str);

async fn index(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let name = cx.state::<Name>().0;
    let pages = cx.try_step("read", || async {
        say(format_args!("{name}: read the pages"))?;
        anyhow::Ok(1000)
    });
    let pages: u32 = pages
        .await
        .map_err(|error| ToolError::new(error.to_string()))?;
    cx.checkpoint("read").await;
    let built = cx.try_step("build", || async {
        say(format_args!("{name}: built the index"))?;
        anyhow::Ok(())
    });
    built
        .await
        .map_err(|error| ToolError::new(error.to_string()))?;
    Ok(format!("{pages} pages indexed"))
}

fn instance(name: &'static str, is_busy: bool, keys: Keyring) -> anyhow::Result<HttpServer<Mcp>> {
    let mut config = ServerConfig::default();
    config.overloaded = Some(Arc::new(move || is_busy));
    let server = Server::new("indexer", "1.0.0")
        .config(config)
        .state(Name(name))
        .tool("index", "Indexes all pages", index)
        .keys(keys)
        .anonymous();
    Ok(server.build()?.into_tower()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let keys = keys()?.to_toml();
    let busy = instance("busy", true, Keyring::from_toml(keys.as_str())?)?;
    let idle = instance("idle", false, Keyring::from_toml(keys.as_str())?)?;

    let mut call = Conversation::begin("index", json!({}))?;
    call.round(&busy).await?;
    call.round(&idle).await
}

#[cfg(test)]
mod tests {
    use sterna_testkit::Flow;

    use super::*;

    #[tokio::test]
    async fn wherever_it_is_sent_away_all_pages_are_indexed() {
        let flow = Flow::of(index).state(|| Name("any"));
        assert_eq!(flow.run().await.text(), "1000 pages indexed");
        assert!(flow.check().await.sheds > 2);
    }
}
