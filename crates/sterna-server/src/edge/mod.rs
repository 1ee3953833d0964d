//! Everything about HTTP that is not MCP.
//!
//! An [`Edge`] stands between the network and an [`Endpoint`]. Before a request
//! reaches the endpoint the edge has checked where it comes from, how large it
//! is, who sent it and whether there is room for it; see [`Refusal`] for every
//! way in which it can say no and [`EdgeConfig`] for every number.
//!
//! A plain call costs what the HTTP library costs: the connection's task polls
//! the endpoint's future, and the answer's bytes go out as they are. An answer
//! that takes its time is an [`EdgeBody`] that owns the running call and is
//! polled by the same task; [`reply::running`] makes one when it is needed.
//!
//! ```
//! use http::{Response, StatusCode};
//! use sterna_server::auth::Gate;
//! use sterna_server::edge::{Edge, EdgeBody, EdgeConfig, Endpoint, Inbound, Probes, reply};
//!
//! struct Echo;
//!
//! impl Endpoint for Echo {
//!     async fn call(&self, inbound: Inbound) -> Response<EdgeBody> {
//!         reply::json(StatusCode::OK, inbound.body)
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let edge = Edge::new(Echo, Gate::open(), Probes::new(), EdgeConfig::default())?;
//! let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
//! let drained = edge.serve_on(listener, async { /* until this is done */ }).await?;
//! assert_eq!(drained.cut, 0);
//! # Ok(()) }
//! ```

mod accept;
mod access;
pub(crate) mod before;
mod body;
pub(crate) mod clock;
mod config;
mod connection;
mod cors;
mod endpoint;
mod error;
pub(crate) mod guarded;
mod health;
mod metrics;
mod numbers;
mod outbox;
mod pass;
mod pipeline;
mod pulse;
mod rate;
mod read_body;
mod refusal;
pub mod reply;
mod rules;
mod serve;
mod service;
mod shutdown;
mod signal;
mod slots;
mod socket;
mod stream;

pub use accept::Accepts;
pub use body::{Aborted, EdgeBody};
pub use clock::by_wall_clock;
pub use config::{EdgeConfig, Limits, Rate, Rates, Timeouts};
pub use endpoint::{Endpoint, Inbound};
pub use error::{ConfigError, ServeError};
pub use health::{Check, Checking, Health, Probes};
pub use metrics::{Counter, Gauge, Histogram, Registry};
pub use outbox::{Inbox, Outbox, PushError, outbox};
pub use pass::Pass;
pub(crate) use rate::Allowance;
pub use refusal::Refusal;
pub use serve::Drained;
pub use service::{Edge, Peer};
pub use shutdown::Shutdown;
pub use signal::interrupted;
pub use stream::Events;
