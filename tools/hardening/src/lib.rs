//! Bad input, bad connections and too much of everything, against a real
//! server process.
//!
//! - [`Subject`] is the process: a server of our own that serves until it is
//!   told to stop, and whose memory is watched.
//! - [`requests`], [`lines`] and [`connections`] try what they can think of and
//!   count what came back; the tables in `docs/hardening.md` are theirs.
//! - [`memory`] tries to fill the memory of the server.
//! - [`schemas`] turns round: a client that meets a bad server.
//! - [`load`] is many clients at once.
//!
//! Whatever is tried, the next good request must be answered.

mod corpus;
mod good;
mod http2;
mod mutate;
mod outcome;
mod subject;
mod tally;
mod wire;

pub mod connections;
pub mod lines;
pub mod load;
pub mod memory;
pub mod offers;
pub mod requests;
pub mod schemas;

pub use corpus::{Example, examples};
pub use subject::{LastWords, Subject};
pub use tally::Tally;
