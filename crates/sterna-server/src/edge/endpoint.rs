//! The seam between the edge and what it guards.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Response;
use http::request::Parts;

use super::accept::Accepts;
use super::body::EdgeBody;
use super::config::Limits;
use super::outbox::{Inbox, Outbox, outbox};
use super::pass::Pass;
use super::shutdown::Shutdown;
use crate::auth::Caller;

/// What stands behind the edge and answers requests.
///
/// # Examples
///
/// ```
/// use http::{Response, StatusCode};
/// use sterna_server::edge::{EdgeBody, Endpoint, Inbound, reply};
///
/// struct Echo;
///
/// impl Endpoint for Echo {
///     async fn call(&self, inbound: Inbound) -> Response<EdgeBody> {
///         reply::json(StatusCode::OK, inbound.body)
///     }
/// }
/// ```
pub trait Endpoint: Send + Sync + 'static {
    /// Answers one request.
    ///
    /// The future is polled by the connection the request came on, and dropped
    /// when that connection goes away: no task is spawned for it. A panic in it
    /// is answered with 500.
    fn call(&self, inbound: Inbound) -> impl Future<Output = Response<EdgeBody>> + Send;
}

/// A request that has passed every check of the edge.
#[derive(Debug)]
#[non_exhaustive]
pub struct Inbound {
    /// Method, target, headers and extensions as they came, but for a
    /// credential that the gate has judged.
    pub head: Parts,
    /// The whole body.
    pub body: Bytes,
    /// Who is calling and what they may still do.
    pub pass: Pass,
    /// The kinds of answer the client reads.
    pub accepts: Accepts,
    /// Where the connection comes from, if the edge knows.
    pub peer: Option<SocketAddr>,
    /// How long a call may be silent before its answer had better become a
    /// stream, which is kept alive: what [`reply::running`] wants to know.
    ///
    /// [`reply::running`]: super::reply::running
    pub patience: Duration,
    /// When the answer is due. The edge cuts a call off a little later, so that
    /// the endpoint can say so in its own words.
    pub deadline: Instant,
    /// Says that the server is going away.
    pub shutdown: Shutdown,
    pub(crate) event_bytes: usize,
}

impl Inbound {
    /// A message that came as a line, from a caller that did not come through
    /// the edge.
    pub(crate) fn of_line(
        head: Parts,
        body: Bytes,
        deadline: Instant,
        shutdown: Shutdown,
        limits: &Limits,
    ) -> Self {
        Self {
            head,
            body,
            pass: Pass::unlimited(Caller::anonymous()),
            accepts: Accepts::EVERYTHING,
            peer: None,
            patience: Duration::MAX,
            deadline,
            shutdown,
            event_bytes: limits.event_bytes,
        }
    }

    /// Opens a queue for what the call says before its answer, as large as the
    /// configuration allows.
    #[must_use]
    pub fn outbox(&self) -> (Outbox, Inbox) {
        outbox(self.event_bytes)
    }
}
