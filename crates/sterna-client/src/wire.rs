//! One request and its answer, over whatever transport.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use http::HeaderMap;
use serde::Serialize;
use serde_json::value::RawValue;
use sterna_protocol::jsonrpc::{
    Answer, ErrorCode, ErrorObject, ErrorResponse, Message, Notification, Request, RequestId,
};
use tokio::time::Instant;

use crate::error::{Error, Fault};
use crate::oauth::BoxFuture;
use crate::transport::{Exchange, Outgoing, Transport};

/// The connection to one server, with an id for every request.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) transport: Box<dyn Transport>,
    next_id: AtomicI64,
}

/// What is done with that which comes before the answer.
pub(crate) trait Ears: Sync {
    /// Hears a notification; whether it was progress of this very request.
    fn hear(&self, method: &str, params: Option<&RawValue>) -> bool;

    /// Whether somebody is being asked for the server, although not on the
    /// stream of this request.
    fn is_asking(&self) -> bool {
        false
    }

    /// Answers a request of the server, as only earlier revisions have them.
    fn answer(
        &self,
        id: RequestId,
        method: &str,
        params: Option<&RawValue>,
    ) -> Option<BoxFuture<'_, Outgoing>>;
}

/// Hears nothing and answers nothing.
pub(crate) struct Deaf;

impl Ears for Deaf {
    fn hear(&self, _: &str, _: Option<&RawValue>) -> bool {
        false
    }

    fn answer(
        &self,
        _: RequestId,
        _: &str,
        _: Option<&RawValue>,
    ) -> Option<BoxFuture<'_, Outgoing>> {
        None
    }
}

/// How long an answer is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Without any sign of progress.
    pub(crate) silence: Duration,
    /// In all.
    pub(crate) total: Duration,
}

impl Wire {
    pub(crate) fn new(transport: Box<dyn Transport>) -> Self {
        Self {
            transport,
            next_id: AtomicI64::new(1),
        }
    }

    /// An id that no other request has (BASE-C1, MRTR-C3).
    pub(crate) fn next_id(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask<A, P>(
        &self,
        request: Request<'_, P>,
        headers: HeaderMap,
        ears: &dyn Ears,
        patience: Patience,
    ) -> Result<A, Error>
    where
        A: for<'de> Answer<'de>,
        P: Serialize,
    {
        let (answer, _) = self.exchange(request, headers, ears, patience).await?;
        Ok(answer)
    }

    /// The same, and the headers that came with the answer.
    pub(crate) async fn exchange<A, P>(
        &self,
        request: Request<'_, P>,
        headers: HeaderMap,
        ears: &dyn Ears,
        patience: Patience,
    ) -> Result<(A, HeaderMap), Error>
    where
        A: for<'de> Answer<'de>,
        P: Serialize,
    {
        let mut clock = Clock::start(patience);
        let mut exchange = clock
            .until(self.open(request.id.clone(), &request, headers))
            .await?;
        let headers = std::mem::take(&mut exchange.headers);
        let answer = self
            .follow(&request.id, &mut exchange, ears, &mut clock)
            .await?;
        Ok((answer, headers))
    }

    /// Sends a request; what comes back is the caller's to read.
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

    /// Sends what is not answered, and does not wait for ever.
    pub(crate) async fn deliver(&self, message: Outgoing) -> Result<(), Error> {
        let told = tokio::time::timeout(TELLING, self.transport.tell(message)).await;
        told.unwrap_or_else(|_| Err(Fault::Timeout(TELLING).into()))
    }

    async fn follow<A: for<'de> Answer<'de>>(
        &self,
        id: &RequestId,
        exchange: &mut Exchange,
        ears: &dyn Ears,
        clock: &mut Clock,
    ) -> Result<A, Error> {
        let mut replies = FuturesUnordered::new();
        loop {
            // While a person is being asked, the server is not the one who is slow.
            let asking = !replies.is_empty();
            let bytes = tokio::select! {
                biased;
                Some(()) = replies.next(), if asking => {
                    if replies.is_empty() {
                        clock.resume();
                    }
                    continue;
                }
                message = exchange.next() => message?.ok_or(Fault::Closed)?,
                () = clock.ring(), if !asking => {
                    if ears.is_asking() {
                        clock.extend();
                        continue;
                    }
                    return Err(clock.expired());
                }
            };
            // A server that never stops talking would keep the bell from ringing.
            if !asking && clock.is_over() && !ears.is_asking() {
                return Err(clock.expired());
            }
            let message = Message::<Option<&RawValue>, Option<&RawValue>, A>::decode(&bytes);
            match message.map_err(Fault::Decode)? {
                Message::Result(response) if response.id == *id => return Ok(response.result),
                Message::Error(response) if response.id.as_ref().is_none_or(|of| of == id) => {
                    return Err(refusal(response, exchange));
                }
                Message::Result(_) | Message::Error(_) => {
                    return Err(Fault::Broken("the answer to another request").into());
                }
                Message::Notification(notification) => {
                    if ears.hear(&notification.method, notification.params) {
                        clock.reset();
                    }
                }
                Message::Request(request) => {
                    let reply = ears.answer(request.id, &request.method, request.params);
                    if let Some(reply) = reply {
                        clock.pause();
                        replies.push(async {
                            let told = self.deliver(reply.await).await;
                            if let Err(error) = told {
                                tracing::warn!(%error, "an answer did not reach the server");
                            }
                        });
                    }
                }
            }
        }
    }
}

/// What a JSON-RPC error means to the caller.
fn refusal(response: ErrorResponse, exchange: &Exchange) -> Error {
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

/// The time that a request has left.
struct Clock {
    patience: Patience,
    silent_until: Instant,
    end: Instant,
    paused: Option<Instant>,
}

impl Clock {
    fn start(patience: Patience) -> Self {
        let now = Instant::now();
        Self {
            patience,
            silent_until: after(now, patience.silence),
            end: after(now, patience.total),
            paused: None,
        }
    }

    async fn until<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        tokio::select! {
            biased;
            done = work => done,
            () = self.ring() => Err(self.expired()),
        }
    }

    fn ring(&self) -> impl Future<Output = ()> + use<> {
        tokio::time::sleep_until(self.silent_until.min(self.end))
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.silent_until.min(self.end)
    }

    fn expired(&self) -> Error {
        // CANCEL-C4: the exchange is dropped with the caller's frame, which cancels it.
        let limit = if self.end < self.silent_until {
            self.patience.total
        } else {
            self.patience.silence
        };
        Fault::Timeout(limit).into()
    }

    /// CANCEL-C6: progress buys time, up to the end.
    fn reset(&mut self) {
        self.silent_until = after(Instant::now(), self.patience.silence);
    }

    /// Gives the server another chance after people were asked.
    fn extend(&mut self) {
        self.end = after(self.end, self.patience.silence);
        self.reset();
    }

    fn pause(&mut self) {
        self.paused.get_or_insert_with(Instant::now);
    }

    fn resume(&mut self) {
        if let Some(since) = self.paused.take() {
            self.end = after(self.end, since.elapsed());
            self.reset();
        }
    }
}

/// Later than `now`; a wait that the clock cannot hold is one without end.
fn after(now: Instant, wait: Duration) -> Instant {
    const AGES: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    now + wait.min(AGES)
}

/// How long a message may take that nobody answers.
const TELLING: Duration = Duration::from_secs(30);
