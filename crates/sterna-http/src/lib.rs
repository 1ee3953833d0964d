//! A hardened HTTP server for one endpoint.
//!
//! An [`HttpServer`] stands between the network and an [`Endpoint`]. Before a request
//! reaches the endpoint the server has checked where it comes from, how large it
//! is, who sent it and whether there is room for it; see [`Refusal`] for every
//! way in which it can say no and [`HttpConfig`] for every number.
//!
//! A plain call costs what the HTTP library costs: the connection's task polls
//! the endpoint's future, and the answer's bytes go out as they are. An answer
//! that takes its time is an [`ResponseBody`] that owns the running call and is
//! polled by the same task; [`reply::respond_or_stream`] makes one when it is needed.
//!
//! ```
//! use http::{Response, StatusCode};
//! use sterna_http::auth::Gate;
//! use sterna_http::{HttpServer, ResponseBody, HttpConfig, Endpoint, Inbound, Probes, reply};
//!
//! struct Echo;
//!
//! impl Endpoint for Echo {
//!     async fn call(&self, inbound: Inbound) -> Response<ResponseBody> {
//!         reply::json(StatusCode::OK, inbound.body)
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = HttpServer::new(Echo, Gate::open(), Probes::new(), HttpConfig::default())?;
//! let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
//! let report = server.serve_on(listener, async { /* until this is done */ }).await?;
//! assert_eq!(report.aborted, 0);
//! # Ok(()) }
//! ```

mod admission;
mod charge;
mod connection;
mod connection_store;
mod connections;
mod endpoint;
mod http_server;
mod pipeline;
mod refusal;
mod serve;

mod accept;
mod access;
mod body;
mod budget;
mod discard;
mod guard;
mod head_summary;
mod health;
mod http_metrics;
mod monitor;
mod outbox;
mod rate;
mod read_body;
pub mod reply;
mod shares;
mod slots;
mod socket;
mod unread;
mod weigh;

pub mod auth;
mod blocking;
pub mod clock;
mod config;
mod metrics;
mod shutdown;

pub use accept::Accepts;
pub use admission::{Admission, Operation};
pub use blocking::{BlockingReadError, BlockingReads};
pub use body::{Aborted, Events, ResponseBody};
pub use budget::{Budget, Part, Reservation};
pub use config::{ConfigError, HttpConfig, Limits, Rate, Rates, ServeError, Timeouts};
pub use connection_store::ConnectionStore;
pub use endpoint::{Endpoint, Inbound, Transport};
pub use guard::{CatchPanic, DeadlinePassed, Panicked, WithDeadline, catch_panic, with_deadline};
pub use health::{Check, Checking, Health, Probes};
pub use http_server::{HttpServer, Peer};
pub use metrics::{Counter, Gauge, Histogram, Registry};
pub use outbox::{Inbox, Outbox, PushError, outbox};
pub use rate::TokenBucket;
pub use refusal::Refusal;
pub use serve::{DrainReport, bind, passed_listener};
pub use shutdown::{Shutdown, interrupted};
pub use slots::{Slot, Slots};
pub use weigh::weigh;
