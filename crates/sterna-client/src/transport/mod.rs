//! Transports: carrying messages to a server and back.
//!
//! A transport carries one request and hands back an [`Exchange`]: the messages
//! that belong to it, the last of which is its answer. Dropping the exchange
//! takes the request back. What a message means is not decided here.

mod http;
mod lines;
mod stdio;
mod tap;
mod target;

use std::fmt::Debug;

use ::http::{HeaderMap, StatusCode};
use futures::future::BoxFuture;
use sterna_protocol::jsonrpc::RequestId;

pub(crate) use self::http::{Http, MCP_SESSION_ID};
pub(crate) use self::lines::Lines;
pub use self::stdio::Command;
pub(crate) use self::stdio::Stdio;
pub use self::tap::{Direction, WireMessage};
pub(crate) use self::tap::{Tapped, Watcher};
pub(crate) use self::target::Endpoint;
pub use self::target::{Duplex, Target};
use crate::error::{Error, Fault};

/// Carries messages to one server.
pub(crate) trait Transport: Debug + Send + Sync {
    /// Sends a request; its answer comes through the exchange.
    fn request(&self, request: Outgoing) -> BoxFuture<'_, Result<Exchange, Error>>;

    /// Sends a message that gets no answer: a notification, or a response of ours.
    fn tell(&self, message: Outgoing) -> BoxFuture<'_, Result<(), Error>>;

    /// Sends a notification that may be lost: if the server wants a sign-in
    /// first, it is not sent.
    fn notify_best_effort(&self, message: Outgoing) -> BoxFuture<'_, Result<(), Error>> {
        self.tell(message)
    }

    /// Opens the stream of messages that the server sends on its own; `None` if
    /// there is no such stream.
    fn open_server_stream(
        &self,
        headers: HeaderMap,
    ) -> BoxFuture<'_, Result<Option<Exchange>, Error>>;

    /// Takes up the stream of a request again, which any client may have made: from after the
    /// event `event_id`, over and over, since a server may send what comes later
    /// only to the next one who asks.
    ///
    /// # Errors
    ///
    /// The transport has no streams that can be resumed.
    fn resume_stream(&self, _: HeaderMap, _event_id: &str) -> Result<Exchange, Error> {
        Err(Fault::Unsupported("a connection other than HTTP".to_owned()).into())
    }

    /// Ends the connection in good order.
    fn close(&self, headers: HeaderMap) -> BoxFuture<'_, ()>;

    /// Returns true if requests carry headers, so that names and parameters must
    /// be repeated there.
    fn has_headers(&self) -> bool;

    /// Which life of the connection this is; starts the next one if the last
    /// has ended and there can be another.
    fn epoch(&self) -> Result<u64, Error> {
        Ok(0)
    }

    /// Name of the server in questions and errors: its URL or command.
    fn endpoint(&self) -> &str;
}

/// A message on its way out.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// Its id, if it is a request.
    pub(crate) id: Option<RequestId>,
    /// HTTP headers that repeat parts of the message.
    pub(crate) headers: HeaderMap,
    /// The message itself.
    pub(crate) body: Vec<u8>,
}

/// Response to one request, message by message.
pub(crate) struct Exchange {
    /// HTTP status of the response.
    pub(crate) status: Option<StatusCode>,
    pub(crate) headers: HeaderMap,
    source: Box<dyn Source>,
}

impl Exchange {
    pub(crate) fn new(source: impl Source + 'static) -> Self {
        Self {
            status: None,
            headers: HeaderMap::new(),
            source: Box::new(source),
        }
    }

    /// The same messages by way of another source.
    pub(crate) fn map<S: Source + 'static>(
        mut self,
        wrap: impl FnOnce(Box<dyn Source>) -> S,
    ) -> Self {
        self.source = Box::new(wrap(self.source));
        self
    }

    /// The next message; `None` once there will be no more.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        self.source.next().await
    }

    /// Id of the event to resume after, so that the last message is sent again;
    /// `None` if the server cannot do that.
    pub(crate) fn resume_point(&self) -> Option<&str> {
        self.source.resume_point()
    }
}

/// Source of the messages of an [`Exchange`].
pub(crate) trait Source: Send {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, Error>>;

    /// As [`Exchange::resume_point`].
    fn resume_point(&self) -> Option<&str> {
        None
    }
}
