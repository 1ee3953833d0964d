//! A [store](sterna_store::Store) in one SQLite file: durable tasks without a
//! server to operate.
//!
//! Give [`SqliteStore::open`] a path. Any number of processes on one machine
//! may open the same file; leases and fences keep them apart.
//!
//! # What survives what
//!
//! | acknowledged | process killed | power cut |
//! |---|---|---|
//! | a task created, answered, cancelled, ended; a question asked | kept | kept |
//! | an effect or a round claimed or settled; a blob | kept | kept |
//! | a step appended, a lease taken or renewed | kept | the last ones may be gone: the step runs again |
//!
//! # Living beside other users of SQLite
//!
//! SQLite is built in. A program can link it only once, so this crate takes any
//! `rusqlite` from 0.37 to 0.39, which link the same library as `sqlx` 0.9.

mod blobs;
mod config;
mod error;
mod ledger;
mod open;
mod rows;
mod schema;
mod store;
mod tasks;
mod thread;

pub use config::Config;
pub use store::SqliteStore;
