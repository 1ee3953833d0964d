//! One client at the other end of two byte streams.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use sterna_http::{
    Admission, Budget, HttpConfig, Inbound, ResponseBody, Shutdown, Slots, clock, weigh,
};
use sterna_protocol::jsonrpc::{
    DecodeError, ErrorCode, ErrorObject, ErrorResponse, Message, RequestId,
};
use sterna_protocol::legacy::ClientNotification;
use sterna_protocol::lines;
use sterna_protocol::methods::{self, Or};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, Id, JoinSet};

use super::call::{LineCall, run};
use crate::core::Core;
use crate::current::CurrentCore;
use crate::era::{is_marked_standalone, is_standalone};
use crate::sessions::{self, Initialized, Session};
use crate::v2026;

pub(super) struct Connection {
    current: CurrentCore,
    call: Duration,
    memory: Arc<Budget>,
    calls: Arc<Slots>,
    shutdown: Shutdown,
    lines: mpsc::Sender<Bytes>,
    /// The session, once `initialize` has opened one.
    session: Option<Arc<Session>>,
    tasks: JoinSet<()>,
    running: HashMap<RequestId, AbortHandle>,
    by_task: HashMap<Id, RequestId>,
}

impl Connection {
    pub(super) fn new(
        current: CurrentCore,
        config: &HttpConfig,
        shutdown: Shutdown,
        lines: mpsc::Sender<Bytes>,
    ) -> Self {
        Self {
            current,
            call: config.timeouts.call,
            memory: Budget::new(config.limits.clone()),
            calls: Slots::new(config.limits.calls),
            shutdown,
            lines,
            session: None,
            tasks: JoinSet::new(),
            running: HashMap::new(),
            by_task: HashMap::new(),
        }
    }

    /// Takes one line in. It waits for nothing but room to write.
    ///
    /// A line is decoded as a message of the connection's era, and again only
    /// if it is not one.
    pub(super) async fn take(&mut self, line: &[u8]) {
        if weigh(line) > self.memory.limits().parsed_bytes {
            let id = match Message::raw(line) {
                Ok(Message::Request(request)) => Some(request.id),
                _ => None,
            };
            let text = "The message has too many values";
            let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, text);
            return self.refuse(id, error).await;
        }
        match self.session.clone() {
            None => self.take_alone(line).await,
            Some(session) => self.take_in_session(line, session).await,
        }
    }

    /// Takes a line in as a message of 2026-07-28.
    async fn take_alone(&mut self, line: &[u8]) {
        match v2026::FromClient::decode(line) {
            Ok(Message::Request(request)) => {
                let (id, params) = (request.id, request.params);
                let listens = matches!(
                    *params,
                    Or::First(methods::ClientRequest::SubscriptionsListen(_))
                );
                let call = LineCall::new(Some(id.clone()), listens);
                let running = Some(id.clone());
                let work = |core, inbound| async move {
                    v2026::request(core, inbound, id, params).finish().await
                };
                self.start(running, call, line, work).await;
            }
            Ok(Message::Notification(notification)) => {
                if let methods::ClientNotification::Cancelled(params) = notification.params {
                    self.cancel(&params.request_id, params.reason.as_deref());
                }
            }
            // BASE-B7: there is nothing that a modern client could answer.
            Ok(Message::Result(_) | Message::Error(_)) => {}
            Err(error) => self.take_other(line, error).await,
        }
    }

    /// Takes a line in that is not a message of 2026-07-28.
    async fn take_other(&mut self, line: &[u8], error: DecodeError) {
        let raw = Message::raw(line);
        let (id, method) = match &raw {
            Ok(Message::Request(request)) => (Some(request.id.clone()), &*request.method),
            Ok(Message::Notification(notification)) => (None, &*notification.method),
            _ => (None, ""),
        };
        // CANCEL-B3: one that cannot be read is ignored.
        if id.is_none() && method == "notifications/cancelled" {
            return;
        }
        let standalone = is_standalone(line);
        if !standalone && method == "initialize" {
            return self.initialize(id, line, error).await;
        }
        let is_request = matches!(raw, Ok(Message::Request(_)) | Err(_));
        if standalone || is_request {
            self.start_unreadable(id, line, error).await;
        }
    }

    async fn start_unreadable(&mut self, id: Option<RequestId>, line: &[u8], error: DecodeError) {
        let call = LineCall::new(id.clone(), false);
        let work =
            |core, inbound| async move { v2026::unreadable(core, inbound, error).finish().await };
        self.start(id, call, line, work).await;
    }

    /// Opens the session of the connection, which later lines belong to.
    async fn initialize(&mut self, id: Option<RequestId>, line: &[u8], error: DecodeError) {
        let (core, inbound) = (self.current.core(), self.inbound(line));
        if core.serves_sessions {
            let Initialized { response, opened } = sessions::initialize(&core, &inbound);
            self.session = opened.map(|(session, _)| Arc::new(session));
            return LineCall::new(id, false)
                .pass_on(response, &self.lines)
                .await;
        }
        match sessions::reject_initialize(&core, &inbound) {
            Some(refusal) => LineCall::new(id, false).pass_on(refusal, &self.lines).await,
            None => self.start_unreadable(id, line, error).await,
        }
    }

    /// Takes a line in as a message of the session.
    async fn take_in_session(&mut self, line: &[u8], session: Arc<Session>) {
        match sessions::FromClient::decode(line) {
            // A client may use both eras on one connection.
            Ok(Message::Request(request)) if is_marked_standalone(&request.params) => {
                self.take_alone(line).await;
            }
            Ok(Message::Request(request)) => {
                let (id, params) = (request.id, request.params);
                let call = LineCall::new(Some(id.clone()), false);
                let running = Some(id.clone());
                let work = |core, inbound| sessions::request(core, inbound, session, id, params);
                self.start(running, call, line, work).await;
            }
            Ok(Message::Notification(notification)) => match notification.params {
                ClientNotification::Cancelled(params) => {
                    if let Some(id) = &params.request_id {
                        self.cancel(id, params.reason.as_deref());
                    }
                }
                ClientNotification::Initialized(_) => {
                    let work = |core, inbound| async move {
                        sessions::open_stream(&core, &inbound, &session)
                    };
                    self.start(None, LineCall::new(None, false), &[], work)
                        .await;
                }
                other => sessions::notification(&self.current.core(), &session, other),
            },
            Ok(Message::Result(response)) => {
                let (id, answer) = (response.id, Ok(response.result.get().to_owned()));
                let work = |core, inbound| sessions::answered(core, inbound, session, id, answer);
                self.start(None, LineCall::new(None, false), line, work)
                    .await;
            }
            Ok(Message::Error(response)) => {
                let Some(id) = response.id else { return };
                let answer = Err(response.error);
                let work = |core, inbound| sessions::answered(core, inbound, session, id, answer);
                self.start(None, LineCall::new(None, false), line, work)
                    .await;
            }
            Err(_) if is_standalone(line) => self.take_alone(line).await,
            Err(error) => {
                let id = error.request_id().cloned();
                let work = |core, inbound| sessions::unreadable(core, inbound, session, error);
                let call = LineCall::new(id.clone(), false);
                self.start(id, call, line, work).await;
            }
        }
    }

    /// Starts work on a message; `id` is that of a request.
    async fn start<W, F>(&mut self, id: Option<RequestId>, call: LineCall, line: &[u8], work: W)
    where
        W: FnOnce(Arc<Core>, Inbound) -> F,
        F: Future<Output = Response<ResponseBody>> + Send + 'static,
    {
        let slot = self.calls.take(1);
        let is_batch = line.trim_ascii_start().starts_with(b"[");
        // A batch of 2025-03-26 has no id, and as many calls as it likes.
        if slot.is_none() && (id.is_some() || is_batch) {
            let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "Too much is running");
            return self.refuse(id, error).await;
        }
        let answering = Box::pin(work(self.current.core(), self.inbound(line)));
        let lines = self.lines.clone();
        let slot = slot.filter(|_| id.is_some() || is_batch);
        let task = self.tasks.spawn(async move {
            let _slot = slot;
            run(call, answering, lines).await;
        });
        if let Some(id) = id {
            self.by_task.insert(task.id(), id.clone());
            self.running.insert(id, task);
        }
    }

    fn inbound(&self, line: &[u8]) -> Inbound {
        Inbound::of_line(
            line.to_vec().into(),
            Admission::of_line(&self.calls),
            clock::now() + self.call,
            self.shutdown.clone(),
            Arc::clone(&self.memory),
        )
    }

    /// Stops a request, and with it everything that would be said about it
    /// (CANCEL-S4, CANCEL-S5).
    fn cancel(&mut self, id: &RequestId, reason: Option<&str>) {
        if let Some(task) = self.running.remove(id) {
            tracing::debug!(target: "sterna::stdio", reason, "a request was taken back");
            task.abort();
        }
    }

    /// Says that a line was too long to be a message.
    pub(super) async fn too_long(&self) {
        let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, "The message is too large");
        self.refuse(None, error).await;
    }

    async fn refuse(&self, id: Option<RequestId>, error: ErrorObject) {
        let mut line = Vec::new();
        lines::write(&mut line, |line| ErrorResponse::new(id, error).encode(line))
            .expect("an error holds JSON only");
        // The receiver is gone only when the connection is about to end.
        let _ = self.lines.send(line.into()).await;
    }

    /// Forgets a request that has ended; waits for one.
    pub(super) async fn reap(&mut self) {
        let ended = match self.tasks.join_next_with_id().await {
            None => return std::future::pending().await,
            Some(Ok((id, ()))) => id,
            Some(Err(error)) => error.id(),
        };
        if let Some(id) = self.by_task.remove(&ended)
            && self.running.get(&id).is_some_and(|task| task.id() == ended)
        {
            self.running.remove(&id);
        }
    }

    /// Waits for what is running, for no longer than `patience`.
    pub(super) async fn drain(mut self, patience: Duration) {
        if let Some(session) = self.session.take() {
            // The client is gone, so its questions get no answer.
            sessions::disconnect(&self.current.core(), &session);
        }
        let drained = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(patience, drained).await.is_err() {
            self.tasks.shutdown().await;
        }
    }
}
