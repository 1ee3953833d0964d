//! Tools of the demo whose effects must not happen twice.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use sterna_server::{Cx, Server, TaskMode, Tool, ToolError};
use sterna_store_sqlite::{Config, SqliteStore};

use crate::exit::Failure;

/// Gives `server` a store in `folder`, and the tools that need one.
pub(super) fn add(server: Server, folder: &Path) -> Result<Server, Failure> {
    let store = SqliteStore::open(store_in(folder), Config::default())?;
    let publish = Tool::new("publish", "Publishes an article after approval", publish);
    let vote = Tool::new("vote", "Takes one vote", vote);
    Ok(server
        .store(Arc::new(store))
        .configure(|config| {
            // Thirty seconds for a dead worker are too long for a demo.
            config.tasks.lease = Duration::from_secs(1);
            config.tasks.poll_interval = Duration::from_millis(50);
            config.tasks.longest_poll = Duration::from_millis(100);
        })
        .state(Effects(effects_in(folder)))
        .offer(Tool::new("refund", "Refunds an order after asking", refund).requires_store())
        .offer(vote.single_use())
        .offer(publish.task(TaskMode::Always).requires_store()))
}

/// The file of the store.
pub(super) fn store_in(folder: &Path) -> PathBuf {
    folder.join("store.db")
}

/// Log file in which the replicas record their effects.
pub(super) fn effects_in(folder: &Path) -> PathBuf {
    folder.join("effects.log")
}

struct Effects(PathBuf);

impl Effects {
    fn happened(&self, what: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.0)?;
        file.write_all(format!("{what}\n").as_bytes())
    }
}

#[derive(Deserialize, JsonSchema)]
struct Refund {
    /// The number of the order
    order: String,
}

#[derive(Deserialize, JsonSchema)]
struct Amount {
    /// How much, in euros?
    #[schemars(range(min = 1), extend("default" = 20))]
    amount: u32,
}

async fn refund(cx: Cx<'_>, args: Refund) -> Result<String, ToolError> {
    let question = format!("How much of order {} is refunded?", args.order);
    let Amount { amount } = cx.ask("amount", question).await?;
    let effects = cx.state::<Effects>();
    cx.try_once("refund", |_| async { effects.happened("refunded") })
        .await?;
    Ok(format!("{amount} euros of order {} refunded", args.order))
}

#[derive(Deserialize, JsonSchema)]
struct Choice {
    /// Whom do you vote for?
    #[schemars(length(min = 1), extend("default" = "Ada"))]
    name: String,
}

async fn vote(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let Choice { name } = cx.ask("choice", "Your vote, please.").await?;
    Ok(format!("one vote for {name}"))
}

#[derive(Deserialize, JsonSchema)]
struct Article {
    title: String,
}

#[derive(Deserialize, JsonSchema)]
struct Approval {
    /// Who approves?
    #[schemars(length(min = 1), extend("default" = "Ada"))]
    name: String,
}

async fn publish(cx: Cx<'_>, article: Article) -> Result<String, ToolError> {
    let effects = cx.state::<Effects>();
    cx.try_step("render", || async { effects.happened("rendered") })
        .await?;
    let question = format!("Publish {}?", article.title);
    let Approval { name } = cx.ask("approval", question).await?;
    cx.try_step("print", || async {
        effects.happened("printing")?;
        tokio::time::sleep(PRINTING).await;
        io::Result::Ok(())
    })
    .await?;
    cx.try_once("publish", |_| async { effects.happened("published") })
        .await?;
    Ok(format!("{} is out, approved by {name}", article.title))
}

/// Long enough to be killed in.
const PRINTING: Duration = Duration::from_millis(500);
