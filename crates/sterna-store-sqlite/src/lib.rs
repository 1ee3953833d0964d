//! A [store](sterna_store::Store) in one SQLite file: durable tasks without a
//! server to operate.
//!
//! Give [`SqliteStore::open`] a path. Any number of processes on one machine
//! may open the same file; leases and fences keep them apart.
//!
//! ```
//! use sterna_store::{FlowId, Name, NewTask, Owner, Status, TaskId, Tasks};
//! use sterna_store_sqlite::{Config, SqliteStore};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let folder = tempfile::tempdir()?;
//!     let file = folder.path().join("tasks.db");
//!     // In earnest both ids are random, and the server makes them.
//!     let (id, flow) = (TaskId::from_bytes([7; 16]), FlowId::from_bytes([9; 16]));
//!     let alice = Owner::from_digest([1; 32]);
//!
//!     let store = SqliteStore::open(&file, Config::default())?;
//!     let task = NewTask::new(id, alice, flow, Name::new("deploy")?, "{}".into());
//!     store.create(task).await?;
//!     store.close().await; // so would `kill -9`
//!
//!     let store = SqliteStore::open(&file, Config::default())?;
//!     let task = store.read(alice, id).await?.ok_or("no such task")?;
//!     assert_eq!(task.summary.status, Status::Working);
//!     Ok(())
//! }
//! ```
//!
//! # Durability
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

mod clock;
mod error;
mod ledger;
mod open;
mod rows;
mod schema;
mod store;
mod survey;
mod tasks;
mod thread;

pub use store::{Config, SqliteStore};
pub use survey::SqliteSurvey;
