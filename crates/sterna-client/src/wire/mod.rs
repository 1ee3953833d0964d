//! One request and its answer, over any transport.

mod timer;

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use http::HeaderMap;
use serde::Serialize;
use serde_json::value::RawValue;
use sterna_protocol::jsonrpc::{
    Answer, ErrorCode, ErrorObject, ErrorResponse, Message, Notification, Request, RequestId,
};

pub(crate) use self::timer::{RequestTimer, Timeouts};
use crate::error::{Error, Fault};
use crate::transport::{Exchange, Outgoing, Transport};

/// The connection to one server, with an id for every request.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) transport: Box<dyn Transport>,
    next_id: AtomicI64,
    /// A response came on a stream that could have been resumed before it.
    has_resumable_streams: AtomicBool,
}

impl Wire {
    pub(crate) fn new(transport: Box<dyn Transport>) -> Self {
        Self {
            transport,
            next_id: AtomicI64::new(1),
            has_resumable_streams: AtomicBool::new(false),
        }
    }

    /// Returns true if the server has shown that its streams can be resumed.
    pub(crate) fn has_resumable_streams(&self) -> bool {
        self.has_resumable_streams.load(Ordering::Relaxed)
    }

    /// An id that no other request has (BASE-C1, MRTR-C3).
    pub(crate) fn next_id(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Goes on with ids that no other client of the server has.
    pub(crate) fn scatter_ids(&self) {
        // Every server can read integers of up to 53 bits, whatever its language.
        let chance = RandomState::new().hash_one(()) >> 12;
        let first = i64::try_from(chance).unwrap_or_default();
        self.next_id.store(first.max(1), Ordering::Relaxed);
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask<A, P>(
        &self,
        request: Request<'_, P>,
        headers: HeaderMap,
        handler: &dyn MessageHandler,
        timeouts: Timeouts,
    ) -> Result<A, Error>
    where
        A: for<'de> Answer<'de>,
        P: Serialize,
    {
        let (answer, _) = self.exchange(request, headers, handler, timeouts).await?;
        Ok(answer)
    }

    /// The same, and the headers that came with the answer.
    pub(crate) async fn exchange<A, P>(
        &self,
        request: Request<'_, P>,
        headers: HeaderMap,
        handler: &dyn MessageHandler,
        timeouts: Timeouts,
    ) -> Result<(A, HeaderMap), Error>
    where
        A: for<'de> Answer<'de>,
        P: Serialize,
    {
        let mut timer = RequestTimer::start(timeouts);
        let mut exchange = timer
            .until(self.open(request.id.clone(), &request, headers))
            .await?;
        let headers = std::mem::take(&mut exchange.headers);
        let answer = self
            .follow(&request.id, &mut exchange, handler, &mut timer)
            .await?;
        Ok((answer, headers))
    }

    /// Sends a request; the caller reads the response.
    pub(crate) async fn open<P: Serialize>(
        &self,
        id: RequestId,
        request: &Request<'_, P>,
        headers: HeaderMap,
    ) -> Result<Exchange, Error> {
        let mut body = Vec::new();
        request
            .encode(&mut body)
            .map_err(|error| Fault::Arguments(Some(error)))?;
        let id = Some(id);
        let outgoing = Outgoing { id, headers, body };
        self.transport.request(outgoing).await
    }

    /// Sends a notification.
    pub(crate) async fn tell<P: Serialize>(
        &self,
        notification: Notification<'_, P>,
        headers: HeaderMap,
    ) -> Result<(), Error> {
        let mut body = Vec::new();
        notification
            .encode(&mut body)
            .map_err(|error| Fault::Arguments(Some(error)))?;
        let id = None;
        self.deliver(Outgoing { id, headers, body }).await
    }

    /// Sends a message that gets no answer, with a time-out.
    pub(crate) async fn deliver(&self, message: Outgoing) -> Result<(), Error> {
        let told = tokio::time::timeout(TELLING, self.transport.tell(message)).await;
        told.unwrap_or_else(|_| Err(Fault::Timeout(TELLING).into()))
    }

    /// Sends an answer to the server, once there is one.
    pub(crate) async fn reply(&self, reply: impl Future<Output = Option<Outgoing>>) {
        if let Some(reply) = reply.await
            && let Err(error) = self.deliver(reply).await
        {
            tracing::warn!(%error, "an answer did not reach the server");
        }
    }

    async fn follow<A: for<'de> Answer<'de>>(
        &self,
        id: &RequestId,
        exchange: &mut Exchange,
        handler: &dyn MessageHandler,
        timer: &mut RequestTimer,
    ) -> Result<A, Error> {
        let mut replies = FuturesUnordered::new();
        loop {
            // While a person is being asked, the server is not the one who is slow.
            let asking = !replies.is_empty();
            let bytes = tokio::select! {
                biased;
                Some(()) = replies.next(), if asking => {
                    if replies.is_empty() {
                        timer.resume();
                    }
                    continue;
                }
                message = exchange.next() => message?.ok_or(Fault::Closed)?,
                () = timer.ring(), if !asking => {
                    if handler.is_waiting_for_user() {
                        timer.extend();
                        continue;
                    }
                    return Err(timer.expired());
                }
            };
            // A server that never stops talking would keep the bell from ringing.
            if !asking && timer.is_over() && !handler.is_waiting_for_user() {
                return Err(timer.expired());
            }
            let message = Message::<Option<&RawValue>, Option<&RawValue>, A>::decode(&bytes);
            match message.map_err(|error| Fault::Decode(error.into()))? {
                Message::Result(response) if response.id == *id => {
                    if exchange.resume_point().is_some() {
                        self.has_resumable_streams.store(true, Ordering::Relaxed);
                    }
                    return Ok(response.result);
                }
                Message::Error(response) if is_refusal_of(id, &response, exchange) => {
                    return Err(refusal(response, exchange));
                }
                Message::Result(_) | Message::Error(_) => {
                    return Err(Fault::Broken("the answer to another request").into());
                }
                Message::Notification(notification) => {
                    if handler.on_notification(&notification.method, notification.params) {
                        timer.reset();
                    }
                }
                // A server that asks more than this at once is not asking people.
                Message::Request(_) if replies.len() >= MOST_AT_ONCE => {}
                Message::Request(request) => {
                    let reply = handler.on_request(request.id, &request.method, request.params);
                    if let Some(reply) = reply {
                        timer.pause();
                        replies.push(self.reply(reply));
                    }
                }
            }
        }
    }
}

/// Handles messages that arrive before the response.
pub(crate) trait MessageHandler: Sync {
    /// Handles a notification. Returns true for progress of this request.
    fn on_notification(&self, method: &str, params: Option<&RawValue>) -> bool;

    /// Returns true while a person answers a question of the server that came on
    /// another stream.
    fn is_waiting_for_user(&self) -> bool {
        false
    }

    /// Answers a request of the server, as only earlier revisions have them,
    /// unless it is taken back.
    fn on_request(
        &self,
        id: RequestId,
        method: &str,
        params: Option<&RawValue>,
    ) -> Option<BoxFuture<'_, Option<Outgoing>>>;
}

/// Hears nothing and answers nothing.
pub(crate) struct IgnoreAll;

impl MessageHandler for IgnoreAll {
    fn on_notification(&self, _: &str, _: Option<&RawValue>) -> bool {
        false
    }

    fn on_request(
        &self,
        _: RequestId,
        _: &str,
        _: Option<&RawValue>,
    ) -> Option<BoxFuture<'_, Option<Outgoing>>> {
        None
    }
}

/// Returns true for an error that answers the request `id`. One behind an HTTP
/// status does, whatever id the server puts in: some write one of their own.
pub(crate) fn is_refusal_of(id: &RequestId, response: &ErrorResponse, exchange: &Exchange) -> bool {
    let refused = exchange.status.is_some_and(|status| !status.is_success());
    refused || response.id.as_ref().is_none_or(|of| of == id)
}

/// Converts a JSON-RPC error for the caller.
pub(crate) fn refusal(response: ErrorResponse, exchange: &Exchange) -> Error {
    let error = response.error;
    if is_state_refusal(&error) {
        return Fault::State(error).into();
    }
    let status = exchange.status.map(|status| status.as_u16());
    Fault::Refused { error, status }.into()
}

/// The words that all servers have agreed on for a state they do not take.
fn is_state_refusal(error: &ErrorObject) -> bool {
    let reason = error.data.as_ref().and_then(|data| data.get("reason"));
    error.code == ErrorCode::INVALID_PARAMS
        && reason.is_some_and(|reason| reason == "invalid_request_state")
}

/// Longest time for sending a message without a response.
const TELLING: Duration = Duration::from_secs(30);

/// Largest number of open questions of a server.
pub(crate) const MOST_AT_ONCE: usize = 64;
