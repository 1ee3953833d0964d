//! The interface between the HTTP server and the endpoint it serves.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Request, Response};

use super::accept::Accepts;
use super::admission::{Admission, Operation};
use super::body::ResponseBody;
use super::budget::{Budget, Part};
use super::connection_store::ConnectionStore;
use super::outbox::{Inbox, Outbox, charged};
use super::refusal::Refusal;
use super::shutdown::Shutdown;

/// Answers the requests that the server lets through.
///
/// # Examples
///
/// ```
/// use http::{Response, StatusCode};
/// use sterna_http::{ResponseBody, Endpoint, Inbound, reply};
///
/// struct Echo;
///
/// impl Endpoint for Echo {
///     async fn call(&self, inbound: Inbound) -> Response<ResponseBody> {
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
    fn call(&self, inbound: Inbound) -> impl Future<Output = Response<ResponseBody>> + Send;

    /// Writes a refusal in the endpoint's protocol. By default a problem
    /// document (RFC 9457).
    fn refuse(&self, refusal: Refusal) -> Response<ResponseBody> {
        refusal.into_response()
    }

    /// Reads from the headers which operation is called, and on which name.
    ///
    /// Serves only to name the scopes that a refused caller needs: scopes are
    /// checked against the body.
    fn operation<'a>(&self, _headers: &'a HeaderMap) -> Option<Operation<'a>> {
        None
    }

    /// Moment of the last work that is done without a request; the present while
    /// such work goes on. A server does not
    /// [end for idleness](crate::Timeouts::exit_when_idle) meanwhile. `None` by
    /// default.
    fn last_work(&self) -> Option<Instant> {
        None
    }

    /// Headers of a response that a web page may read, as in
    /// `Access-Control-Expose-Headers`.
    fn exposed_headers(&self) -> &'static str {
        "WWW-Authenticate, Retry-After"
    }
}

/// A request that has passed every check of the server.
#[derive(Debug)]
#[non_exhaustive]
pub struct Inbound {
    /// Method, target, headers and extensions as they came, but for a
    /// credential that the gate has judged. Empty if the message came as a line.
    pub head: Parts,
    /// Transport that the message came over.
    pub transport: Transport,
    /// The whole body.
    pub body: Bytes,
    /// The caller and the limits of the call.
    pub admission: Admission,
    /// The kinds of answer the client reads.
    pub accepts: Accepts,
    /// Address of the peer, if it is known.
    pub peer: Option<SocketAddr>,
    /// Place for what the endpoint keeps with the connection.
    pub connection: ConnectionStore,
    /// Silence after which an answer becomes a stream, which is kept alive;
    /// [`reply::respond_or_stream`] uses it.
    ///
    /// [`reply::respond_or_stream`]: super::reply::respond_or_stream
    pub patience: Duration,
    /// When the answer is due. The server cuts a call off a little later, so that
    /// the endpoint can say so in its own words.
    pub deadline: Instant,
    /// Says that the server is going away.
    pub shutdown: Shutdown,
    /// The budget that the call's memory is charged to.
    pub memory: Arc<Budget>,
}

/// Transport that a message came over, which decides how its answer is framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// HTTP: a document, or the events of a `text/event-stream`.
    Http,
    /// A byte stream with one message in each line.
    Lines,
}

impl Inbound {
    /// A message that came as a line, from a caller that did not come through
    /// HTTP.
    pub fn of_line(
        body: Bytes,
        admission: Admission,
        deadline: Instant,
        shutdown: Shutdown,
        memory: Arc<Budget>,
    ) -> Self {
        Self {
            head: Request::new(()).into_parts().0,
            transport: Transport::Lines,
            body,
            admission,
            accepts: Accepts::EVERYTHING,
            peer: None,
            connection: ConnectionStore::default(),
            patience: Duration::MAX,
            deadline,
            shutdown,
            memory,
        }
    }

    /// Opens a queue for the events of the call before its answer, as large as
    /// the configuration allows.
    #[must_use]
    pub fn outbox(&self) -> (Outbox, Inbox) {
        self.queue(Part::Answers)
    }

    /// Opens a queue for the events of a listener, which is charged to the part
    /// of the subscriptions.
    pub fn lasting_outbox(&self) -> (Outbox, Inbox) {
        self.queue(Part::Subscriptions)
    }

    fn queue(&self, part: Part) -> (Outbox, Inbox) {
        let nothing_yet = self.memory.take(part, 0);
        charged(self.memory.limits().event_bytes, nothing_yet)
    }
}
