//! Tests for handlers that ask.
//!
//! ```
//! use sterna_server::{Cx, AskError};
//! use sterna_testkit::Flow;
//!
//! async fn deploy(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
//!     let reason: String = cx.ask("reason", "Deploy to production: why?").await?;
//!     Ok(format!("deployed: {reason}"))
//! }
//!
//! # /*
//! #[tokio::test]
//! # */
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() { a_deployment_has_a_reason().await }
//! async fn a_deployment_has_a_reason() {
//!     let flow = Flow::of(deploy).answer("reason", "the tests are green");
//!     let run = flow.run().await;
//!     run.asked("reason").in_round(1).saying("Deploy to production: why?");
//!     assert_eq!(run.text(), "deployed: the tests are green");
//!     flow.check().await; // replayed, crashed everywhere, in every mode
//! }
//! ```
//!
//! A [`Flow`] is a handler, its arguments and the answers it gets. Its
//! [`run`](Flow::run) goes through the real server, in process, with the messages
//! that go over the wire. Its [`check`](Flow::check) finds mistakes that
//! otherwise show only in production: a question that differs on the next
//! replica, an effect that happens twice when a response is lost, a handler that
//! works in one protocol revision and not in the other.
//!
//! - [`Flow::world`] stands in for the outside world and records effects on it.
//! - [`Flow::round`] has the client misbehave: tamper, replay, come late,
//!   answer in part, come as another caller, never come back.
//! - [`Flow::upgrade`] deploys another build in the middle.
//! - [`Run`] has the questions, the effects and the end. When something is
//!   wrong, a [`Failure`] shows all of it.
//!
//! With the feature `axum`, `RouteFlow` tests a route of `sterna-axum` in the same
//! way.
//!
//! The runtime is that of the test. With `#[tokio::test(start_paused = true)]`
//! no timer is waited for; the server's clock follows that of tokio.
//!
//! `docs/testing-your-tools.md` is the guide.

mod flow;
mod round;

mod run;

mod failure;

mod check;
mod play;

mod answer;
mod backstage;
mod clock;
mod cluster;
mod end;
mod log;
mod notes;
mod show;
mod wire;
mod world;

#[cfg(feature = "axum")]
mod route;

pub use check::Checked;
pub use failure::Failure;
pub use flow::{ExecutionMode, Flow};
pub use round::Round;
#[cfg(feature = "axum")]
pub use route::{RouteChecked, RouteFlow, RouteQuestion, RouteRun};
pub use run::{Asked, Run};
