//! Whole tasks on several PostgreSQL servers that behave as one store.

use std::sync::Arc;

use anyhow::Result;
use postgres_here::Postgres;
use sterna_store::{Rings, Shard, Shards, Store};

use crate::engine;
use crate::place::Place;

/// Measures sets of `counts` servers, each with its usual durability. All of them
/// share the processors and the disk of this machine.
pub(crate) async fn measure(counts: &[usize], tasks: u32) -> Result<()> {
    for count in counts {
        let mut servers = Vec::new();
        let mut shards = Vec::new();
        for number in 0..*count {
            let Some(server) = Postgres::start("fsync = on")? else {
                println!("skipped: PostgreSQL, install it");
                return Ok(());
            };
            let place = Place {
                store: server.connection(),
                schema: Some("shard".to_owned()),
            };
            shards.push(Shard::new(format!("shard-{number}"), place.open().await?));
            servers.push(server);
        }
        println!("{count} PostgreSQL over sockets, as one store");
        let store = Shards::open(shards, Rings::new(&[*count])?).await?;
        let store: Arc<dyn Store> = Arc::new(store);
        engine::measure(store, tasks).await?;
    }
    Ok(())
}
