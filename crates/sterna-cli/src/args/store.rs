//! Arguments of commands that look into a store.

use clap::{Args, Subcommand};
use sterna_store::Rings;

/// `sterna store …`.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Count the rows of a store, and show how long they are kept; nothing is written
    Stats(StoreStatsArgs),
}

/// `sterna store stats`.
#[derive(Args, Debug)]
pub(crate) struct StoreStatsArgs {
    /// The store: a SQLite file or a postgres:// URL; each shard, if there are several
    #[arg(
        value_name = "URL",
        required = true,
        env = "STERNA_STORE",
        hide_env_values = true
    )]
    pub(crate) stores: Vec<String>,
    /// Numbers of shards before and since more of them were added, such as 2,4
    #[arg(long, value_name = "RINGS")]
    pub(crate) rings: Option<Rings>,
    /// The schema of the store in PostgreSQL [default: sterna]
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Option<String>,
}
