//! A durable task on SQLite: it asks in the middle, and survives `kill -9`.
//!
//! Run it: `cargo run --package examples --bin task`
//!
//! It serves at <http://127.0.0.1:8080/mcp>. Call `publish` from a client that
//! declares `io.modelcontextprotocol/tasks`: the answer is a task id. Kill the
//! program while the task waits for its approval, start it again and answer
//! with `tasks/update`: the article is rendered once and published once.
//!
//! It prints `tasks are kept in tasks.db`.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use sterna_server::{Cx, Server, TaskMode, Tool, ToolError};
use sterna_store_sqlite::{Config, SqliteStore};

#[derive(Deserialize, JsonSchema)]
struct Publish {
    /// The title of the article
    title: String,
}

#[derive(Deserialize, JsonSchema)]
struct Approval {
    /// Who approves?
    name: String,
}

async fn publish(cx: Cx<'_>, args: Publish) -> Result<String, ToolError> {
    // Committed before the next line runs: a crash after it does not render again.
    let page = cx
        .step("render", || async { format!("<h1>{}</h1>", args.title) })
        .await;
    // If the task is cancelled or runs out of time, this is run.
    cx.undo("render", |_| async {
        println!("the draft is thrown away");
    });
    // The task is put away here and costs nothing, for days if need be.
    let approval: Approval = cx
        .ask("approval", format!("Publish {} bytes?", page.len()))
        .await?;
    cx.sleep("embargo", Duration::from_secs(10)).await;
    // At most once, whatever crashes: the claim is in the store before it runs.
    let address = cx
        .once("publish", |key| async move {
            println!("published under {key:?}");
            "https://example.com/articles/1".to_owned()
        })
        .await?;
    Ok(format!("{address}, approved by {}", approval.name))
}

#[tokio::main]
async fn main() -> Result<()> {
    let store = SqliteStore::open("tasks.db", Config::default())?;
    println!("tasks are kept in tasks.db");
    let publish = Tool::new("publish", "Publishes an article after approval", publish)
        .task(TaskMode::Always)
        .requires_store();
    Server::new("newsroom", env!("CARGO_PKG_VERSION"))
        .offer(publish)
        .store(Arc::new(store))
        .log_to_stderr()
        .serve("127.0.0.1:8080")
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sterna_testkit::{ExecutionMode, Flow};

    use super::*;

    #[tokio::test]
    async fn an_article_is_published_whichever_worker_dies() {
        let flow = Flow::of(publish)
            .mode(ExecutionMode::Task)
            .args(json!({"title": "Birds"}))
            .answer("approval", json!({"name": "Ada"}));
        let run = flow.run().await;
        assert_eq!(run.steps(), ["render", "publish"]);
        flow.check().await;
    }
}
