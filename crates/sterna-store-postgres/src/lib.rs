//! A [store](sterna_store::Store) in PostgreSQL.

mod blobs;
mod config;
mod error;
mod ledger;
mod listen;
mod migrate;
mod pool;
mod rows;
mod session;
mod statement;
mod store;
mod tasks;

pub use config::{Config, Hints, Migrate, Schema, Trust};
pub use migrate::migrate;
pub use store::PostgresStore;
