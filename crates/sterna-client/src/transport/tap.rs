//! Observing the messages of a transport.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use http::{HeaderMap, StatusCode};

use super::{Exchange, Outgoing, Source, Transport};
use crate::error::Error;

/// A message as it passes, for [`Builder::on_wire`](crate::Builder::on_wire).
///
/// It is whole: state, answers and arguments are in it. `Debug` shows none of
/// them.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct WireMessage<'a> {
    /// Which way it goes.
    pub direction: Direction,
    /// HTTP status of the response; `None` on other transports and for outgoing
    /// messages.
    pub status: Option<StatusCode>,
    /// The header fields that the protocol or the server has set. Those of
    /// [`Builder::headers`](crate::Builder::headers) and of
    /// [`Builder::auth`](crate::Builder::auth) are added later.
    pub headers: &'a HeaderMap,
    /// The message, as JSON.
    pub body: &'a [u8],
}

impl fmt::Debug for WireMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WireMessage")
            .field("direction", &self.direction)
            .field("status", &self.status)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum Direction {
    /// From the server.
    Received,
    /// To the server.
    Sent,
}

pub(crate) type Watcher = Arc<dyn Fn(&WireMessage<'_>) + Send + Sync>;

/// A transport that is watched.
pub(crate) struct Tapped {
    inner: Box<dyn Transport>,
    watcher: Watcher,
}

impl Tapped {
    pub(crate) fn new(inner: Box<dyn Transport>, watcher: Watcher) -> Self {
        Self { inner, watcher }
    }

    fn sent(&self, message: &Outgoing) {
        (self.watcher)(&WireMessage {
            direction: Direction::Sent,
            status: None,
            headers: &message.headers,
            body: &message.body,
        });
    }

    fn watched(&self, exchange: Exchange) -> Exchange {
        let Exchange {
            status,
            headers,
            source,
        } = exchange;
        let source = Watched {
            status,
            headers: headers.clone(),
            source,
            watcher: self.watcher.clone(),
        };
        Exchange {
            status,
            headers,
            source: Box::new(source),
        }
    }
}

impl Transport for Tapped {
    fn request(&self, request: Outgoing) -> BoxFuture<'_, Result<Exchange, Error>> {
        Box::pin(async move {
            self.sent(&request);
            let exchange = self.inner.request(request).await?;
            Ok(self.watched(exchange))
        })
    }

    fn tell(&self, message: Outgoing) -> BoxFuture<'_, Result<(), Error>> {
        self.sent(&message);
        self.inner.tell(message)
    }

    fn notify_best_effort(&self, message: Outgoing) -> BoxFuture<'_, Result<(), Error>> {
        self.sent(&message);
        self.inner.notify_best_effort(message)
    }

    fn open_server_stream(
        &self,
        headers: HeaderMap,
    ) -> BoxFuture<'_, Result<Option<Exchange>, Error>> {
        Box::pin(async move {
            let exchange = self.inner.open_server_stream(headers).await?;
            Ok(exchange.map(|exchange| self.watched(exchange)))
        })
    }

    fn resume_stream(&self, headers: HeaderMap, event_id: &str) -> Result<Exchange, Error> {
        let exchange = self.inner.resume_stream(headers, event_id)?;
        Ok(self.watched(exchange))
    }

    fn close(&self, headers: HeaderMap) -> BoxFuture<'_, ()> {
        self.inner.close(headers)
    }

    fn has_headers(&self) -> bool {
        self.inner.has_headers()
    }

    fn epoch(&self) -> Result<u64, Error> {
        self.inner.epoch()
    }

    fn endpoint(&self) -> &str {
        self.inner.endpoint()
    }
}

impl fmt::Debug for Tapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tapped").field(&self.inner).finish()
    }
}

/// Messages that are shown before they are handed on.
struct Watched {
    status: Option<StatusCode>,
    headers: HeaderMap,
    source: Box<dyn Source>,
    watcher: Watcher,
}

impl Source for Watched {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async {
            let message = self.source.next().await?;
            if let Some(body) = &message {
                (self.watcher)(&WireMessage {
                    direction: Direction::Received,
                    status: self.status,
                    headers: &self.headers,
                    body,
                });
            }
            Ok(message)
        })
    }

    fn resume_point(&self) -> Option<&str> {
        self.source.resume_point()
    }
}
