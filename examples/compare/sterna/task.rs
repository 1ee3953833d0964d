//! Runs as a task that survives a restart.

use std::sync::Arc;
use std::time::Duration;

use sterna::server::{Cx, Server};
use sterna::store_sqlite::{Config, SqliteStore};

/// Prints an article, which takes a while
#[sterna::tool(task = optional)]
async fn print(cx: Cx<'_>, title: String) -> String {
    cx.sleep("printing", Duration::from_secs(1)).await;
    format!("{title} is printed")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = SqliteStore::open("tasks.db", Config::default())?;
    let server = Server::new("printer", "1.0.0")
        .store(Arc::new(store))
        .offer(print::tool());
    Ok(server.stdio().await?)
}
