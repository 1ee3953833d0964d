//! A call of a session up to its answer or its next question.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use http::HeaderMap;
use serde_json::value::RawValue;
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::json::RawJson;
use sterna_protocol::jsonrpc::{Answer, Message, Request, RequestId};
use sterna_protocol::legacy::{Cancelled, CancelledNotificationParams};
use sterna_protocol::methods::NotificationMethod as _;
use tokio::time::Instant;

use super::asked::{AskedQuestion, AskedQuestions};
use super::background::CancelGuard;
use super::held::HeldReason;
use super::running_calls::{RelayedMessage, RelayedMessages};
use super::server_requests::{done, internal, pong, read, refusal_of, unknown_method};
use crate::answers;
use crate::error::{Error, Fault, printable};
use crate::transport::{Exchange, Outgoing};
use crate::wire::{MessageHandler, RequestTimer, Wire, is_refusal_of, refusal};

/// A call without an answer, and the stream on which the answer comes.
///
/// Dropping it cancels the call at the server, unless it has been detached or was
/// taken up from a detached one.
pub(crate) struct OpenCall {
    wire: Arc<Wire>,
    id: RequestId,
    exchange: Exchange,
    /// Headers of the session.
    headers: HeaderMap,
    /// Capabilities that questions may need.
    allowed: ClientCapabilities,
    asked: AskedQuestions,
    guard: Option<CancelGuard>,
    relayed: Option<RelayedMessages>,
    /// It reads the events of a call that an earlier connection made.
    is_replay: bool,
    /// When the questions so far are all that came together.
    quiet_at: Option<Instant>,
    messages: u64,
}

/// Point that an open call has reached.
#[derive(Debug)]
pub(crate) enum Reached<A> {
    Answered(A),
    /// Questions are open, or what had arrived is read.
    Asked,
}

/// The messages that an [`OpenCall`] waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitFor {
    /// Those that have arrived.
    Arrived,
    /// The answer or a question.
    Server,
}

impl OpenCall {
    /// A call without questions so far; none is allowed.
    pub(crate) fn new(
        wire: Arc<Wire>,
        id: RequestId,
        exchange: Exchange,
        headers: HeaderMap,
    ) -> Self {
        Self {
            wire,
            id,
            exchange,
            headers,
            allowed: ClientCapabilities::default(),
            asked: AskedQuestions::new(0),
            guard: None,
            relayed: None,
            is_replay: false,
            quiet_at: None,
            messages: 0,
        }
    }

    /// Allows questions that need these capabilities, up to `most_bytes` of them.
    pub(crate) fn allowing(mut self, allowed: ClientCapabilities, most_bytes: usize) -> Self {
        self.allowed = allowed;
        self.asked = AskedQuestions::new(most_bytes);
        self
    }

    /// Reads a replay: the questions of `settled` need no answer, and what belongs
    /// to other requests is left out.
    pub(crate) fn resumed(mut self, settled: BTreeSet<RequestId>) -> Self {
        self.asked.settle_all(settled);
        self.is_replay = true;
        self
    }

    /// Cancels the call at the server when this is dropped.
    pub(crate) fn guarded(mut self, guard: CancelGuard) -> Self {
        self.guard = Some(guard);
        self
    }

    /// Takes questions from outside of the call's stream as well.
    pub(crate) fn relayed(mut self, relayed: RelayedMessages) -> Self {
        self.relayed = Some(relayed);
        self
    }

    pub(crate) fn asked(&self) -> &AskedQuestions {
        &self.asked
    }

    /// Returns true if the question is open.
    pub(crate) fn asks(&self, id: &RequestId) -> bool {
        self.asked.get(id).is_some()
    }

    /// Returns true if the question was asked, whether or not it is open.
    pub(crate) fn was_asked(&self, id: &RequestId) -> bool {
        self.asked.was_asked(id)
    }

    /// Number of messages that have come.
    pub(crate) fn messages(&self) -> u64 {
        self.messages
    }

    /// Reads on to the answer or, a moment after the first question, to all
    /// questions that were asked with it.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it loses no question and no answer.
    pub(crate) async fn advance<A: for<'de> Answer<'de>>(
        &mut self,
        handler: &dyn MessageHandler,
        timer: &mut RequestTimer,
        wait: WaitFor,
    ) -> Result<Reached<A>, Error> {
        if wait == WaitFor::Arrived {
            self.quiet_at = Some(Instant::now() + ARRIVED);
        }
        let reached = self.read_on(handler, timer).await;
        match &reached {
            Ok(Reached::Answered(_)) => self.disarm(),
            Ok(Reached::Asked) => {}
            Err(error) => {
                if let Some(guard) = self.guard.take() {
                    guard.settle(error);
                }
            }
        }
        reached
    }

    async fn read_on<A: for<'de> Answer<'de>>(
        &mut self,
        handler: &dyn MessageHandler,
        timer: &mut RequestTimer,
    ) -> Result<Reached<A>, Error> {
        let wire = self.wire.clone();
        let mut replies = FuturesUnordered::new();
        loop {
            let quiet_at = self.quiet_at;
            let bytes = tokio::select! {
                biased;
                Some(()) = replies.next(), if !replies.is_empty() => continue,
                message = self.exchange.next() => Some(message?.ok_or(Fault::Closed)?),
                Some(relayed) = next(&mut self.relayed) => {
                    if let Some(refused) = self.on_relayed(relayed)? {
                        replies.push(wire.reply(std::future::ready(Some(refused))));
                    }
                    None
                }
                () = until(quiet_at), if replies.is_empty() => {
                    self.quiet_at = None;
                    return Ok(Reached::Asked);
                }
                () = timer.ring() => return Err(timer.expired()),
            };
            // A server that never stops talking would keep the bell from ringing.
            if timer.is_over() {
                return Err(timer.expired());
            }
            if let Some(bytes) = bytes {
                self.messages += 1;
                let message = Message::<Option<&RawValue>, Option<&RawValue>, A>::decode(&bytes);
                match message.map_err(|error| Fault::Decode(error.into()))? {
                    Message::Result(response) if response.id == self.id => {
                        return Ok(Reached::Answered(response.result));
                    }
                    Message::Error(response)
                        if is_refusal_of(&self.id, &response, &self.exchange) =>
                    {
                        return Err(refusal(response, &self.exchange));
                    }
                    Message::Result(_) | Message::Error(_) if self.is_replay => {}
                    Message::Result(_) | Message::Error(_) => {
                        return Err(Fault::Broken("the answer to another request").into());
                    }
                    Message::Notification(told) if told.method == Cancelled::METHOD => {
                        self.on_withdrawal(told.params);
                    }
                    Message::Notification(told) => {
                        if handler.on_notification(&told.method, told.params) {
                            timer.reset();
                        }
                    }
                    Message::Request(_) if replies.len() >= MOST_REPLIES => {}
                    Message::Request(request) => {
                        if let Some(reply) = self.on_request(request, bytes.len())? {
                            replies.push(wire.reply(std::future::ready(Some(reply))));
                        }
                    }
                }
            }
            if self.quiet_at.is_some_and(|at| Instant::now() >= at) && replies.is_empty() {
                self.quiet_at = None;
                return Ok(Reached::Asked);
            }
        }
    }

    /// Keeps a question; the reply to every other request.
    fn on_request(
        &mut self,
        request: Request<'_, Option<&RawValue>>,
        bytes: usize,
    ) -> Result<Option<Outgoing>, Error> {
        let id = request.id;
        match read(&request.method, request.params) {
            Ok(Some(question)) => {
                let resume_point = self.exchange.resume_point().map(str::to_owned);
                let question = AskedQuestion {
                    id,
                    request: question,
                    resume_point,
                    outside: false,
                };
                self.on_question(question, bytes)
            }
            Ok(None) => Ok(Some(pong(id, &self.headers))),
            Err(error) => Ok(Some(refusal_of(id, *error, &self.headers))),
        }
    }

    fn on_relayed(&mut self, relayed: RelayedMessage) -> Result<Option<Outgoing>, Error> {
        match relayed {
            RelayedMessage::Question { id, request, bytes } => {
                let question = AskedQuestion {
                    id,
                    request: *request,
                    resume_point: None,
                    outside: true,
                };
                self.on_question(question, bytes)
            }
            RelayedMessage::Withdrawal(id) => {
                self.withdraw(&id);
                Ok(None)
            }
        }
    }

    /// Keeps a question that may be asked; the refusal of every other one.
    fn on_question(
        &mut self,
        question: AskedQuestion,
        bytes: usize,
    ) -> Result<Option<Outgoing>, Error> {
        let needed = question.request.required_capabilities();
        if self.allowed.missing(&needed).is_some() {
            return Ok(Some(refusal_of(
                question.id,
                unknown_method(),
                &self.headers,
            )));
        }
        if answers::legible(&question.id.to_string(), &question.request).is_err() {
            return Ok(Some(refusal_of(question.id, internal(), &self.headers)));
        }
        if self.asked.add(question, bytes)? {
            // Counted from the last question: those that are asked together come
            // together.
            self.quiet_at = Some(Instant::now() + TOGETHER);
        }
        Ok(None)
    }

    fn on_withdrawal(&mut self, params: Option<&RawValue>) {
        // CANCEL-B3: what cannot be read, or is not open, takes nothing back.
        let params = params.and_then(|params| serde_json::from_str(params.get()).ok());
        if let Some(CancelledNotificationParams {
            request_id: Some(id),
            reason,
            ..
        }) = params
        {
            // CANCEL-B2: the reason is logged.
            let reason = reason.as_deref().map(printable);
            tracing::debug!(reason, "the server takes a question back");
            self.withdraw(&id);
        }
    }

    fn withdraw(&mut self, id: &RequestId) {
        self.asked.settle(id);
        if self.asked.is_empty() {
            // The call goes on without an answer.
            self.quiet_at = None;
        }
    }

    /// Sends the answer to the question `id`.
    pub(crate) async fn answer(&mut self, id: &RequestId, response: &RawJson) -> Result<(), Error> {
        let reply = done(id.clone(), response, &self.headers);
        self.wire.deliver(reply).await?;
        self.asked.settle(id);
        Ok(())
    }

    /// The event to resume after in place of keeping this connection.
    pub(crate) fn resume_point(&self) -> Result<String, HeldReason> {
        if !self.wire.transport.has_headers() {
            return Err(HeldReason::Pipe);
        }
        if self.asked.open().iter().any(|question| question.outside) {
            return Err(HeldReason::OutsideCall);
        }
        let all = self.asked.open();
        let resumable = all.iter().all(|question| question.resume_point.is_some());
        let first = all.first().and_then(|first| first.resume_point.clone());
        first.filter(|_| resumable).ok_or(HeldReason::NoEventId)
    }

    /// Closes the connection without cancelling the call, which goes on at the
    /// server; its id and the headers of its session.
    pub(crate) fn detach(mut self) -> (RequestId, HeaderMap) {
        self.disarm();
        (self.id, self.headers)
    }

    fn disarm(&mut self) {
        if let Some(guard) = self.guard.take() {
            guard.disarm();
        }
    }

    /// Returns true if dropping this cancels the call.
    pub(crate) fn is_guarded(&self) -> bool {
        self.guard.is_some()
    }

    /// The id of the call and the headers of its session.
    pub(crate) fn address(&self) -> (RequestId, HeaderMap) {
        (self.id.clone(), self.headers.clone())
    }
}

async fn next(relayed: &mut Option<RelayedMessages>) -> Option<RelayedMessage> {
    match relayed {
        Some(relayed) => relayed.next().await,
        None => std::future::pending().await,
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Longest time between two questions that were asked together.
const TOGETHER: Duration = Duration::from_millis(100);

/// Time to read what has arrived while no one was reading.
const ARRIVED: Duration = Duration::from_millis(20);

/// Largest number of replies on their way.
const MOST_REPLIES: usize = 64;
