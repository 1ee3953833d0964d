//! Straight-line async handlers that can be forgotten between two questions.
//!
//! A handler is an ordinary `async fn`. When it waits for an answer, a
//! [`Driver`] drops it and hands out the open questions and a [`Journal`]:
//! everything the handler has learned, by name. With the answers any machine
//! runs the same function again, from its first line, and it gets from the
//! journal what it had. Finished steps do not run again.
//!
//! The crate does no I/O and knows no protocol. A question is bytes with a key
//! and a fingerprint, an answer is bytes. The owner of the driver polls it, tells
//! it the time, and carries questions, answers and journals to and fro.
//!
//! ```
//! # fn sha256(_: &[&[u8]]) -> [u8; 32] { [0; 32] }
//! use std::convert::Infallible;
//! use std::sync::Arc;
//! use std::task::{Context, Poll, Waker};
//! use sterna_flow::{
//!     BuildMatch, FlowCx, Engine, FlowId, Journal, Limits, Opaque, Outcome, Run, UnixMillis,
//! };
//!
//! async fn deploy(cx: FlowCx<'_>, service: &str) -> Result<String, Infallible> {
//!     let plan = cx.step("plan", || async { make_plan(service) }).await; // runs once
//!     let answer = cx.ask("approval", Opaque::new(format!("{plan}?"))).await;
//!     Ok(format!("{plan}: {}", String::from_utf8_lossy(&answer)))
//! }
//!
//! fn make_plan(service: &str) -> String {
//!     format!("deploy {service}")
//! }
//!
//! let engine = Arc::new(Engine::new(sha256));
//! let now = UnixMillis::new(1_800_000_000_000);
//! let mut task = Context::from_waker(Waker::noop());
//!
//! // The first request: the handler asks, and is gone.
//! let run = Run::new(engine.clone(), FlowId::from_bytes([7; 16]));
//! let mut driver = run.drive(|cx| Box::pin(deploy(cx, "shop")));
//! let Poll::Ready(Outcome::Suspended(suspended)) = driver.poll(now, &mut task) else {
//!     panic!("it asks");
//! };
//! assert_eq!(suspended.questions[0].key.as_str(), "approval");
//! assert_eq!(suspended.questions[0].request, "deploy shop?");
//! let bytes = suspended.journal.encode();
//!
//! // The second request, on any machine: it goes on where it was.
//! let journal = Journal::decode(bytes, &Limits::default())?;
//! let run = Run::new(engine, FlowId::from_bytes([7; 16])).resume(journal, 1, BuildMatch::Same);
//! let mut driver = run.drive(|cx| Box::pin(deploy(cx, "shop")));
//! assert!(driver.answer("approval", "yes", now));
//! let Poll::Ready(Outcome::Finished(text)) = driver.poll(now, &mut task) else {
//!     panic!("it is done");
//! };
//! assert_eq!(text, "deploy shop: yes");
//! # Ok::<(), sterna_flow::DecodeError>(())
//! ```
//!
//! `docs/flows.md` is the guide for authors of handlers, and
//! `docs/design/0004-flow-driver.md` says why the driver is as it is.

mod answers;
mod backends;
mod cx;
mod diagnostic;
mod driver;
mod engine;
mod error;
mod fingerprint;
mod handler;
mod idempotency;
mod journal;
mod key;
mod key_map;
mod random;
mod run;
mod shared;

#[cfg(test)]
mod tests;

pub use backends::{
    BackendError, Blobs, BoxFuture, Claim, JournalSink, Ledger, Level, Listener, Progress,
};
pub use cx::{
    Arms, Ask, AskWithin, Body, Cancelled, Checkpoint, Elapsed, FallibleBody, FlowCx, JoinAll,
    Memo, Now, Once, Opaque, Pin, Question, Race, Rejected, Retry, RunInfo, Sleep, Step, StepError,
    StepErrorKind,
};
pub use diagnostic::Diagnostic;
pub use driver::{Changes, Driver, OpenQuestion, Outcome, Remote, Suspended};
pub use engine::{Engine, Observer, Settings, StepEvent};
pub use error::{BackendAction, Error};
pub use fingerprint::{Digest, Fingerprint};
pub use handler::Handler;
pub use idempotency::IdempotencyKey;
pub use journal::{Asked, DecodeError, Entry, Journal, Kind, Limits};
pub use key::Key;
pub use random::{Random, Uuid};
pub use run::{BuildMatch, ExecutionMode, Run};
pub use shared::Changed;
pub use sterna_types::{FlowId, UnixMillis};
