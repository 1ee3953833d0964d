//! An MCP client whose calls can wait for a person.
//!
//! A server that needs something before it can finish a call says so and
//! forgets the call. This crate finds the answers, sends the call again, and
//! goes on until there is a result:
//!
//! ```no_run
//! use sterna_client::{Client, Question};
//! use sterna_protocol::elicitation::{ElicitContent, ElicitRequestFormParams, ElicitResult};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), sterna_client::Error> {
//!     let client = Client::builder("https://deploy.example/mcp")
//!         .on_form(|question: Question<ElicitRequestFormParams>| async move {
//!             println!("{} asks: {}", question.server, question.params.message);
//!             let reason = ElicitContent::from_iter([("reason", "tested on staging")]);
//!             Ok(ElicitResult::accept(reason))
//!         })
//!         .connect()
//!         .await?;
//!
//!     let result = client.call("deploy").arg("service", "web").await?;
//!     for block in &result.content {
//!         println!("{block:?}");
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # Overview
//!
//! - [`Client`] connects to a URL, a [`Command`] or a [`Duplex`], finds out
//!   which era the server belongs to, and asks it everything there is to ask.
//! - [`Builder`] takes the handlers. What requests declare follows from them,
//!   and they answer servers of every era alike.
//! - [`Call`] is a tool call, a prompt or a resource. Awaiting it runs all its
//!   rounds; [`Call::start`] stops at the first question and hands out a
//!   [`PausedCall`], plain data that another process can resume days later.
//! - [`TaskHandle`] is a call that goes on at the server, [`Subscription`] a
//!   stream of changes, [`Pages`] a list.
//! - [`oauth`] gets and keeps the access tokens of protected servers; give it
//!   to [`Builder::auth`].
//!
//! # Guarantees
//!
//! - Answers are checked against the question before they are sent, and go only
//!   to the server that asked.
//! - Request state is returned byte for byte, with the very next request and
//!   with no other. Nothing here can look inside.
//! - A server that is busy, broken or unreachable is never taken for an old
//!   one. One that is old is not probed again for an hour, in the whole process;
//!   it is known by its URL, since one origin may hold servers of both eras.
//! - A tool's structured result must be what its output schema promises, in
//!   JSON Schema 2020-12, 2019-09 or draft 7, 6 or 4; a schema in any other
//!   dialect is an error, not a guess.
//! - A call that is dropped is cancelled at the server, in the words of its era
//!   and its transport.
//! - Messages, rounds, pages and time are bounded for every server; the time
//!   that a person takes to answer does not count.
//! - An [`Error`] says what happened, who must act, and has a page that says
//!   how.

// Modules use those above them, never those below.
mod config;
mod notifications;
mod schema;

mod error;

mod answers;
mod cache;
mod transport;

mod wire;

mod session;

mod core;

mod era;
mod listen;
mod pages;

mod client;

mod tasks;

mod call;

mod requests;

pub use answers::Question;
pub use call::{Call, CallOptions, CancelHandle, PausedCall, Reply, Resume, Step};
pub use client::{Builder, Client};
pub use config::Config;
pub use era::Era;
pub use error::{BoxError, Error, ErrorKind, LostOutcome};
pub use listen::Subscription;
pub use notifications::Change;
pub use pages::Pages;
pub use session::HeldReason;
#[doc(inline)]
pub use sterna_oauth as oauth;
pub use tasks::TaskHandle;
pub use transport::{Command, Direction, Duplex, Target, WireMessage};
