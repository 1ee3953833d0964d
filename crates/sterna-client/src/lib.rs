//! An MCP client whose calls can wait for a person.

mod clock;
mod tls;

mod client;
mod config;
mod core;
mod era;
mod error;

mod answers;
mod call;
mod lists;

mod transport;
mod wire;

pub mod oauth;

pub use answers::Question;
pub use call::{Call, CancelHandle, PausedCall, Reply, Step};
pub use client::{Builder, Client};
pub use config::Config;
pub use era::Era;
pub use error::{BoxError, Error, ErrorKind};
pub use lists::Pages;
pub use transport::{Command, Duplex, Target};
