//! A PostgreSQL server of our own, for as long as somebody needs it: made by
//! `initdb` in a temporary folder, reached through a socket in it, and gone with
//! whoever started it, however that ends. And a PgBouncer in front of it.
//!
//! ```
//! # fn run() -> std::io::Result<()> {
//! use postgres_here::Postgres;
//!
//! // Nothing if the machine has no PostgreSQL.
//! if let Some(server) = Postgres::start("fsync = off")? {
//!     assert!(server.connection().starts_with("host="));
//!     server.control(&["restart", "-m", "immediate"])?;
//! }
//! # Ok(())
//! # }
//! ```

mod cluster;
mod patroni;
mod pgbouncer;
mod processes;
mod programs;
mod server;

pub use cluster::{Cluster, Commits};
pub use pgbouncer::PgBouncer;
pub use server::Postgres;
