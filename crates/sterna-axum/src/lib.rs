//! Pause and resume for axum handlers.
//!
//! A handler asks in the middle of a request: it confirms a deletion, wants a
//! second factor above an amount, has doubtful rows of an import reviewed. The
//! response is a problem (RFC 9457) with the questions and a sealed state. The
//! client repeats the request with the state and the answers, and any instance
//! that has the keys goes on where the handler was. No instance keeps anything
//! in between.
//!
//! ```
//! use std::sync::Arc;
//!
//! use axum::extract::State;
//! use axum::routing::post;
//! use axum::{Json, Router};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use sterna_axum::{Cx, Problem, Resume, pausing};
//! use sterna_seal::{Keyring, Principal, SharedKeyring, ThreadEntropy};
//! use sterna_store::MemoryStore;
//!
//! #[derive(Deserialize)]
//! struct Wish {
//!     order: String,
//! }
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Otp {
//!     /// The six digits that we sent
//!     code: String,
//! }
//!
//! #[derive(Clone)]
//! struct Shop;
//!
//! impl Shop {
//!     fn total(&self, _order: &str) -> u32 { 900 }
//!     async fn send_code(&self) {}
//!     async fn check(&self, code: String) -> bool { code == "246810" }
//!     async fn charge(&self, _total: u32) -> u32 { 1 }
//! }
//!
//! async fn checkout(
//!     cx: Cx<'_>,
//!     State(shop): State<Shop>,
//!     Json(wish): Json<Wish>,
//! ) -> Result<Json<u32>, Problem> {
//!     let total = shop.total(&wish.order);       // plain code: read afresh in every round
//!     if total > 500 {
//!         cx.effect("send", |_| shop.send_code()).await;
//!         loop {
//!             let Otp { code } = cx.ask("otp", format!("Code for {total}?")).await?;
//!             if cx.once("check", |_| shop.check(code)).await? {
//!                 break;
//!             }
//!         }
//!     }
//!     Ok(Json(cx.once("charge", |_| shop.charge(total)).await?))
//! }
//!
//! let keys = Arc::new(SharedKeyring::new(Keyring::generate(&mut ThreadEntropy)?));
//! let resume = Resume::new(keys, "https://shop.example")
//!     .state(Shop)
//!     .store(Arc::new(MemoryStore::new()))
//!     .caller(|parts| {
//!         let user = parts.headers.get("x-user")?.to_str().ok()?;
//!         Some(Principal::named("shop", user))
//!     });
//! let checkout = pausing(checkout).asks_secret::<Otp>("otp").build(&resume)?;
//! let app: Router = Router::new().route("/checkout", post(checkout));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The guide is `docs/http.md`; how a handler is replayed is in `docs/flows.md`.

mod cx;
mod declared;
mod handler;
mod problem;
mod resume;
mod route;

mod body;
mod core;
mod operations;
mod round;

mod clock;
mod error;
mod fault;
mod metrics;
mod openapi;
mod stored_response;

pub use clock::Clock;
pub use cx::{Ask, AskError, Cx};
pub use error::BuildError;
pub use handler::{Extract, PausingHandler};
pub use metrics::Metrics;
pub use operations::Operations;
pub use problem::Problem;
pub use resume::{Config, Resume};
pub use route::{Pausing, PausingRoute, pausing};
pub use sterna_flow::{IdempotencyKey, Level, Pin, Progress, Retry, StepError, StepErrorKind};
pub use sterna_runner::tasks::{TaskConfig, WorkDone};
