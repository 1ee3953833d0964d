//! Calls of a session that pause at the server's questions.
//!
//! A paused call is *detached* if the server can resume the stream of the call:
//! the id of the event before the question is all that it takes. The replay of the
//! question then proves, before an answer is sent, that the result can be
//! collected. Otherwise the call is *held*: its connection stays open.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::header::COOKIE;
use http::{HeaderMap, HeaderName, HeaderValue};
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::http::MCP_PROTOCOL_VERSION;
use sterna_protocol::input::{InputRequest, InputRequests, InputResponses};
use sterna_protocol::jsonrpc::{Answer, Request, RequestId};
use sterna_protocol::legacy;
use sterna_protocol::progress::ProgressToken;
use tokio::time::{Instant, timeout_at};

use super::session_requests::is_not_found;
use super::{CallHandler, Core, Protocol};
use crate::error::{Error, Fault, LostOutcome, LostReason, is_transient, printable};
use crate::notifications::Listeners;
use crate::session::{HeldReason, OpenCall, Reached, Session, WaitFor, cancellation};
use crate::transport::MCP_SESSION_ID;
use crate::wire::{RequestTimer, Timeouts};

/// Point that a round in a session has reached.
pub(crate) enum SessionRound<A> {
    Answered(A),
    Asked(InputRequests, SessionPause),
}

/// A call of a session that waits for answers.
#[derive(Clone, Debug)]
pub(crate) enum SessionPause {
    Detached(Arc<DetachedCall>),
    Held(Arc<HeldCall>),
}

/// All that it takes to go on with a call: plain data.
#[derive(PartialEq)]
pub(crate) struct DetachedCall {
    /// Id, version and cookies of the session, as header fields.
    pub(crate) headers: HeaderMap,
    /// Event to resume after, so that the questions are asked again.
    pub(crate) event: String,
    /// Id of the call.
    pub(crate) call: RequestId,
    /// Ids of the open questions, by the names they have here.
    pub(crate) ids: BTreeMap<String, RequestId>,
    /// Ids of questions that need no answer any more.
    pub(crate) settled: BTreeSet<RequestId>,
}

/// A call whose connection is open, until one resumes it.
pub(crate) struct HeldCall {
    pub(crate) reason: HeldReason,
    ids: BTreeMap<String, RequestId>,
    call: Mutex<Option<OpenCall>>,
}

/// Settings of a round that may pause.
#[derive(Clone, Copy)]
pub(crate) struct SessionCall<'a> {
    /// Name of the tool, the prompt or the resource.
    pub(crate) about: &'a str,
    /// Capabilities that questions may need.
    pub(crate) allowed: &'a ClientCapabilities,
    pub(crate) pausing: Pausing,
    pub(crate) listeners: &'a Listeners,
    pub(crate) timeouts: Timeouts,
}

/// Way in which a call of a session pauses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pausing {
    /// Detached where the server can resume.
    #[default]
    Detach,
    /// With its connection open.
    Hold,
}

/// Questions of a paused call with their answers.
#[derive(Clone, Copy)]
pub(crate) struct AnsweredQuestions<'a> {
    pub(crate) questions: &'a InputRequests,
    pub(crate) answers: &'a InputResponses,
}

impl Core {
    /// Sends a call and stops at the server's questions; sends it once more if the
    /// server has forgotten the session.
    ///
    /// # Cancel safety
    ///
    /// Dropped before the answer or a question has come, the call is cancelled.
    pub(crate) async fn start_in_session<A: for<'de> Answer<'de>>(
        &self,
        session: &Session,
        call: SessionCall<'_>,
        request: impl Fn(i64) -> legacy::ClientRequest,
    ) -> Result<SessionRound<A>, Error> {
        let mut opened = session.current().await?;
        let mut renewed = false;
        loop {
            let _logger = match &call.listeners.log {
                Some((level, tell)) => Some(session.log_to(&opened, level, tell).await),
                None => None,
            };
            let number = self.wire.next_id();
            let id = RequestId::from(number);
            let handler = self.call_handler(call, number.into(), &opened.headers);
            let params = request(number);
            let request = Request::new(id.clone(), params.method().as_str(), params);
            let mut timer = RequestTimer::start(call.timeouts);
            let guard = session.cancel_guard(id.clone(), &opened.headers);
            let relayed = session.relayed_messages();
            let sending = self.wire.open(id.clone(), &request, opened.headers.clone());
            let reached = match timer.until(sending).await {
                Ok(exchange) => {
                    let headers = opened.headers.clone();
                    let mut open = OpenCall::new(self.wire.clone(), id, exchange, headers)
                        .allowing(call.allowed.clone(), self.config.max_message_bytes)
                        .relayed(relayed)
                        .guarded(guard);
                    let reached = open.advance(&handler, &mut timer, WaitFor::Server).await;
                    reached.map(|reached| (reached, open))
                }
                Err(error) => {
                    guard.settle(&error);
                    Err(error)
                }
            };
            match reached {
                Ok((Reached::Answered(answer), _)) => return Ok(SessionRound::Answered(answer)),
                Ok((Reached::Asked, open)) => return Ok(self.pause(open, call.pausing)),
                // The server knew nothing of the request, so it has done nothing.
                Err(error) if !renewed && opened.has_id() && is_not_found(&error) => {
                    renewed = true;
                    opened = session.renew(&opened).await?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Answers the questions of a paused call and goes on to the next ones, or to
    /// the end. No answer is sent before it is certain that the result can be
    /// collected.
    ///
    /// # Cancel safety
    ///
    /// Dropped, a detached call is not cancelled and can be resumed again; a held
    /// one is cancelled.
    pub(crate) async fn resume_in_session<A: for<'de> Answer<'de>>(
        &self,
        pause: &SessionPause,
        answered: AnsweredQuestions<'_>,
        call: SessionCall<'_>,
    ) -> Result<SessionRound<A>, Error> {
        match pause {
            SessionPause::Detached(detached) => {
                self.resume_detached(detached, answered, call).await
            }
            SessionPause::Held(held) => self.resume_held(held, answered, call).await,
        }
    }

    async fn resume_detached<A: for<'de> Answer<'de>>(
        &self,
        detached: &DetachedCall,
        answered: AnsweredQuestions<'_>,
        call: SessionCall<'_>,
    ) -> Result<SessionRound<A>, Error> {
        let headers = detached.headers.clone();
        let transport = &self.wire.transport;
        let exchange = transport.resume_stream(headers.clone(), &detached.event)?;
        let handler = self.call_handler(call, detached.call.clone().into(), &headers);
        let id = detached.call.clone();
        let mut open = OpenCall::new(self.wire.clone(), id, exchange, headers)
            .allowing(call.allowed.clone(), self.config.max_message_bytes)
            .resumed(detached.settled.clone());
        let proven = prove(
            &mut open,
            detached,
            answered.questions,
            &handler,
            call.timeouts,
        )
        .await;
        match proven {
            Ok(Some(answer)) => return Ok(SessionRound::Answered(answer)),
            Ok(None) => {}
            Err(error) => return Err(lost(error, LostOutcome::None)),
        }
        let mut sent = LostOutcome::None;
        for (key, id) in &detached.ids {
            if let (Some(response), true) = (answered.answers.get(key), open.asks(id)) {
                let posted = open.answer(id, response).await;
                posted.map_err(|error| lost(error, sent))?;
                sent = LostOutcome::Unknown;
            }
        }
        let reached = self.follow(open, call, &handler).await;
        reached.map_err(|error| lost(error, sent))
    }

    async fn resume_held<A: for<'de> Answer<'de>>(
        &self,
        held: &HeldCall,
        answered: AnsweredQuestions<'_>,
        call: SessionCall<'_>,
    ) -> Result<SessionRound<A>, Error> {
        let taken = held
            .call
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let mut open = taken.ok_or(Fault::ConnectionTaken)?;
        let (id, headers) = open.address();
        let handler = self.call_handler(call, id.into(), &headers);
        // A server that gave its question up has said so, and perhaps gone on.
        let mut timer = RequestTimer::start(call.timeouts);
        match open.advance(&handler, &mut timer, WaitFor::Arrived).await? {
            Reached::Answered(answer) => return Ok(SessionRound::Answered(answer)),
            Reached::Asked => {}
        }
        for (key, id) in &held.ids {
            if let (Some(response), true) = (answered.answers.get(key), open.asks(id)) {
                open.answer(id, response).await?;
            }
        }
        self.follow(open, call, &handler).await
    }

    /// Tells the server that a detached call is abandoned.
    pub(crate) async fn cancel_detached(&self, call: &DetachedCall) -> Result<(), Error> {
        match cancellation(call.call.clone(), call.headers.clone()) {
            Some(notice) => self.wire.deliver(notice).await,
            None => Ok(()),
        }
    }

    /// Reads on after the answers, unless there are questions already.
    async fn follow<A: for<'de> Answer<'de>>(
        &self,
        mut open: OpenCall,
        call: SessionCall<'_>,
        handler: &CallHandler<'_>,
    ) -> Result<SessionRound<A>, Error> {
        let mut timer = RequestTimer::start(call.timeouts);
        while open.asked().is_empty() {
            if let Reached::Answered(answer) =
                open.advance(handler, &mut timer, WaitFor::Server).await?
            {
                return Ok(SessionRound::Answered(answer));
            }
        }
        Ok(self.pause(open, call.pausing))
    }

    /// Pauses a call at its questions.
    fn pause<A>(&self, open: OpenCall, pausing: Pausing) -> SessionRound<A> {
        let (requests, ids) = open.asked().named();
        let event = match pausing {
            Pausing::Detach => open.resume_point(),
            Pausing::Hold => Err(HeldReason::Requested),
        };
        let session = match &self.protocol {
            Protocol::Legacy(session) => Some(session),
            Protocol::Modern => None,
        };
        let pause = match event {
            Ok(event) => {
                if let Some(session) = session {
                    session.keep();
                }
                let settled = open.asked().settled().clone();
                let (call, headers) = open.detach();
                SessionPause::Detached(Arc::new(DetachedCall {
                    headers,
                    event,
                    call,
                    ids,
                    settled,
                }))
            }
            Err(reason) => {
                let open = match session {
                    Some(session) if !open.is_guarded() => {
                        let (id, headers) = open.address();
                        open.guarded(session.cancel_guard(id, &headers))
                    }
                    _ => open,
                };
                SessionPause::Held(Arc::new(HeldCall {
                    reason,
                    ids,
                    call: Mutex::new(Some(open)),
                }))
            }
        };
        SessionRound::Asked(requests, pause)
    }

    fn call_handler<'a>(
        &self,
        call: SessionCall<'a>,
        token: ProgressToken,
        headers: &HeaderMap,
    ) -> CallHandler<'a> {
        let server_requests = match &self.protocol {
            Protocol::Legacy(session) => Some(session.server_requests(call.about, headers.clone())),
            Protocol::Modern => None,
        };
        CallHandler {
            listeners: call.listeners,
            token,
            server_requests,
        }
    }
}

/// Reads the replay up to the questions of a detached call, or to its end, which
/// is then returned. What is asked again was stored by the server, and what comes
/// after it will be.
async fn prove<A: for<'de> Answer<'de>>(
    open: &mut OpenCall,
    detached: &DetachedCall,
    questions: &InputRequests,
    handler: &CallHandler<'_>,
    timeouts: Timeouts,
) -> Result<Option<A>, Error> {
    let until = Instant::now() + timeouts.idle.min(REPLAY);
    let mut timer = RequestTimer::start(Timeouts {
        idle: timeouts.total,
        total: timeouts.total,
    });
    loop {
        let advanced = open.advance(handler, &mut timer, WaitFor::Server);
        let is_over = match timeout_at(until, advanced).await {
            Ok(Ok(Reached::Answered(answer))) => return Ok(Some(answer)),
            Ok(Ok(Reached::Asked)) => open.messages() > MOST_REPLAYED,
            Ok(Err(error)) => return Err(error),
            Err(_) => true,
        };
        for (key, id) in &detached.ids {
            if let (Some(now), Some(then)) = (open.asked().get(id), questions.get(key))
                && !is_same(&now.request, then)
            {
                let reason = LostReason::Question(printable(key));
                let outcome = LostOutcome::None;
                return Err(Fault::Lost { reason, outcome }.into());
            }
        }
        if detached.ids.values().all(|id| open.was_asked(id)) {
            return Ok(None);
        }
        if is_over {
            let reason = LostReason::Event;
            let outcome = LostOutcome::None;
            return Err(Fault::Lost { reason, outcome }.into());
        }
    }
}

/// Returns true for the same question, however its JSON is spaced.
fn is_same(now: &InputRequest, then: &InputRequest) -> bool {
    let json = |request| serde_json::to_value(request).ok();
    now == then || json(now) == json(then)
}

/// Tells a session that is gone from a failure that may pass: then the paused call
/// can be resumed again.
fn lost(error: Error, outcome: LostOutcome) -> Error {
    let status = match error.fault() {
        Fault::Status { status, .. } => *status,
        Fault::Refused {
            status: Some(status),
            ..
        } => *status,
        _ => return error,
    };
    let gone =
        matches!(status, 400..=499 | 501) && !matches!(status, 401 | 403) && !is_transient(status);
    match gone {
        true => {
            let reason = LostReason::Session(status);
            Fault::Lost { reason, outcome }.into()
        }
        false => error,
    }
}

impl DetachedCall {
    /// The value of a header field of the session.
    pub(crate) fn header(&self, name: &HeaderName) -> Option<&str> {
        let value = self.headers.get(name)?;
        std::str::from_utf8(value.as_bytes()).ok()
    }

    /// Header fields of a session; `None` if a value cannot be one.
    pub(crate) fn session_headers(
        id: Option<&str>,
        version: Option<&str>,
        cookies: Option<&str>,
    ) -> Option<HeaderMap> {
        let mut headers = HeaderMap::new();
        for (name, value, secret) in [
            (MCP_PROTOCOL_VERSION, version, false),
            (MCP_SESSION_ID, id, true),
            (COOKIE, cookies, true),
        ] {
            if let Some(value) = value {
                let mut value = HeaderValue::from_bytes(value.as_bytes()).ok()?;
                value.set_sensitive(secret);
                headers.insert(name, value);
            }
        }
        Some(headers)
    }
}

impl fmt::Debug for DetachedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DetachedCall")
            .field("call", &self.call)
            .field("ids", &self.ids)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for HeldCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldCall")
            .field("reason", &self.reason)
            .field("ids", &self.ids)
            .finish_non_exhaustive()
    }
}

/// Longest wait for a replay to begin. A server that does not know an event id
/// stays silent.
const REPLAY: Duration = Duration::from_secs(10);

/// Largest number of messages before the questions of a replay.
const MOST_REPLAYED: u64 = 10_000;
