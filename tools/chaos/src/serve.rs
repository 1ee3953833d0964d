//! One instance: a server with a tool that plans, asks and pays.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use sterna_flow::StepErrorKind;
use sterna_server::{Cx, Server, ServerConfig, TaskMode, Tool, ToolError};
use sterna_store::contract::{Fault, Faulty};
use sterna_store::{Rings, Shard, Shards, Store};
use sterna_store_postgres::{Asynchronous, PostgresStore};
use sterna_store_sqlite::SqliteStore;

use crate::Flaw;
use crate::effects::{Effects, What, unique};
use crate::instance::Defects;
use crate::table::Table;

/// How long a lease lasts: short, so that a stop of four seconds loses it.
const LEASE: Duration = Duration::from_secs(2);

/// One order in this many has many steps.
const WALKS: u64 = 3;

/// More than fit between two renewals, on PostgreSQL.
const STEPS: u32 = 150;

/// What everything that is done takes.
const PAUSE: Duration = Duration::from_millis(20);

#[tokio::main]
pub(crate) async fn serve(stores: &[String], effects: PathBuf, defects: Defects) -> Result<()> {
    let table = Table::of(&stores[0]);
    let mut store = open_all(stores, defects).await?;
    let flaw = defects.flaw;
    table.create().await?;
    let mut config = ServerConfig::default();
    config.tasks.lease = LEASE;
    if flaw == Some(Flaw::BelievesZombies) {
        // A worker watches its own clock as well and would nearly always let go
        // in time: this one is wrong about how long its lease is.
        store = Arc::new(Faulty::new(store, Fault::EndsLeasesEarly));
        config.tasks.lease = LEASE * 10;
    }
    if let Some(flaw) = flaw {
        store = Arc::new(Faulty::new(store, Fault::from(flaw)));
    }
    config.tasks.poll_interval = Duration::from_millis(100);
    config.tasks.first_retry = Duration::from_millis(200);
    // Workers die here for no fault of the task.
    config.tasks.attempts = 1000;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let service = Server::new("chaos", "1")
        .state(Effects::new(effects, table))
        .offer(Tool::new("order", "Plans, asks and pays", order).task(TaskMode::Always))
        .store(store)
        .config(config)
        .build()?;
    writeln!(std::io::stdout(), "{address}")?;
    service
        .serve_on(listener, sterna_server::http::interrupted())
        .await?;
    Ok(())
}

/// Opens the store, or several as one.
async fn open_all(stores: &[String], defects: Defects) -> Result<Arc<dyn Store>> {
    let mut shards = Vec::new();
    for (number, store) in stores.iter().enumerate() {
        shards.push(Shard::new(
            format!("shard-{number}"),
            open(store, defects).await?,
        ));
    }
    if let [shard] = shards.as_slice() {
        return Ok(Arc::clone(&shard.store));
    }
    let rings = Rings::new(&[shards.len()])?;
    Ok(Arc::new(Shards::open(shards, rings).await?))
}

async fn open(store: &str, defects: Defects) -> Result<Arc<dyn Store>> {
    if store.contains('=') {
        let mut config = sterna_store_postgres::Config::new(store)?;
        if defects.may_repeat_effects {
            config.asynchronous = Asynchronous::MayRepeatEffects;
        }
        return Ok(Arc::new(PostgresStore::connect(config).await?));
    }
    let config = sterna_store_sqlite::Config::default();
    Ok(Arc::new(SqliteStore::open(store, config)?))
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    number: u64,
}

async fn order(cx: Cx<'_>, order: Order) -> Result<String, ToolError> {
    let number = order.number;
    // A plan that no two runs would make alike: what is seen twice was kept.
    let plan = cx
        .step("plan", || async {
            tokio::time::sleep(PAUSE * 3).await;
            unique()
        })
        .await;
    saw(&cx, number, &plan).await?;
    if number.is_multiple_of(WALKS) {
        walk(&cx, number).await?;
    }
    let size: String = cx.ask("size", "Which size?").await?;
    let effects = cx.state::<Effects>().clone();
    let paid = cx
        .try_once("pay", |_| async move {
            // Long enough on both sides for a crash to fall before or after the payment.
            for what in [What::Begin, What::Pay, What::End] {
                effects.note(what, number, "-").await.map_err(failed)?;
                tokio::time::sleep(PAUSE).await;
            }
            Ok::<_, ToolError>(())
        })
        .await;
    let paid = match paid {
        Ok(()) => "paid",
        // A crash fell between the claim and its result.
        Err(error) if error.kind == StepErrorKind::Ambiguous => "ambiguous",
        Err(error) => return Err(error.into()),
    };
    saw(&cx, number, &plan).await?;
    Ok(format!("{number} {size} {paid}"))
}

/// Commits one step after the other, so that renewals and hints fall into the
/// middle of a commit.
async fn walk(cx: &Cx<'_>, order: u64) -> Result<(), ToolError> {
    for number in 0..STEPS {
        cx.step(&format!("step-{number}"), || async {}).await;
        let effects = cx.state::<Effects>();
        effects.saw_step(order, number).map_err(failed)?;
    }
    Ok(())
}

/// Notes what a handler sees. That may happen any number of times, with one
/// plan.
async fn saw(cx: &Cx<'_>, number: u64, plan: &str) -> Result<(), ToolError> {
    let effects = cx.state::<Effects>();
    effects.note(What::Saw, number, plan).await.map_err(failed)
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` has it")]
fn failed(error: anyhow::Error) -> ToolError {
    ToolError::new(error.to_string())
}
