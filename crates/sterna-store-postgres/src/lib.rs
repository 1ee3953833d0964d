//! A [store](sterna_store::Store) in PostgreSQL, shared by the instances of a
//! fleet.
//!
//! Give [`PostgresStore::connect`] a [`Config`]. It makes its tables in a schema
//! of its own, or leaves that to [`migrate`] and a role that may.
//!
//! ```no_run
//! use std::time::Duration;
//! use sterna_store::{Claim, Name, Tasks};
//! use sterna_store_postgres::{Config, PostgresStore};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let config = Config::new("host=db.internal user=tasks dbname=tasks")?;
//!     let store = PostgresStore::connect(config).await?;
//!
//!     // Any instance may take what another one has left.
//!     let wish = Claim::new(Name::new("worker-1")?, Duration::from_secs(30));
//!     for claimed in store.claim(wish).await? {
//!         println!("a task with {} entries in its journal", claimed.journal.len());
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # Requirements
//!
//! - **The clock of the database** decides about leases, timers and expiry; the
//!   clocks of the hosts do not matter.
//! - **Row locks** decide who changes a task; `SKIP LOCKED` keeps workers that
//!   look for work out of each other's way.
//! - **Polling** finds work. `NOTIFY` on answers and cancels only makes it
//!   sooner, and a worker that never hears one loses nothing.
//!
//! # Poolers
//!
//! The store does not rely on a session. No prepared statement, setting or lock
//! outlives a transaction, so PgBouncer in transaction mode may stand in between;
//! give [`Hints::ListenAt`] the server behind it or turn hints off.
//!
//! # When the connection is lost
//!
//! Calls are made again, [`Config::attempts`] times in all. Every call of a store
//! may be repeated: a claim has a fence or a claimant, and a repeated write has
//! no further effect.
//!
//! Name a primary and its standbys in one connection string, and calls are repeated
//! until one of them takes writes, for [`Config::failover`]. What a failover can lose
//! is up to the primary: [`Replication`] says it, and on a primary that acknowledges
//! before a standby has the commit, effects are refused ([`Asynchronous`]).

mod call;
mod config;
mod error;
mod group;
mod ledger;
mod listen;
mod migrate;
mod pool;
mod replication;
mod rows;
mod servers;
mod session;
mod statement;
mod store;
mod survey;
mod tasks;
mod tls;

pub use config::{Asynchronous, Config, Hints, Migrate, Schema, Trust};
pub use replication::Replication;
pub use store::{PostgresStore, migrate};
pub use survey::PostgresSurvey;
