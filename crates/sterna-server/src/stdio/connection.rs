//! One client at the other end of two byte streams.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Method};
use sterna_http::{Admission, Budget, HttpConfig, Inbound, Shutdown, Slots, clock, weigh};
use sterna_protocol::cancellation::CancelledNotificationParams;
use sterna_protocol::jsonrpc::{
    DecodeError, ErrorCode, ErrorObject, ErrorResponse, Message, RequestId,
};
use sterna_protocol::lines;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, Id, JoinSet};

use super::call::{Call, run};
use super::head;
use crate::current::Current;
use crate::legacy::{self, Era, MCP_SESSION_ID};
use crate::modern;

pub(super) struct Connection {
    current: Current,
    call: Duration,
    memory: Arc<Budget>,
    calls: Arc<Slots>,
    shutdown: Shutdown,
    lines: mpsc::Sender<Vec<u8>>,
    /// The session, once `initialize` has opened one.
    session: Option<HeaderValue>,
    tasks: JoinSet<()>,
    running: HashMap<RequestId, AbortHandle>,
    by_task: HashMap<Id, RequestId>,
}

impl Connection {
    pub(super) fn new(
        current: Current,
        config: &HttpConfig,
        shutdown: Shutdown,
        lines: mpsc::Sender<Vec<u8>>,
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
    pub(super) async fn take(&mut self, line: &[u8]) {
        let message = Message::raw(line);
        if let Ok(Message::Notification(notification)) = &message
            && notification.method == "notifications/cancelled"
        {
            let params = notification.params.map_or("{}", |params| params.get());
            // CANCEL-B3: one that cannot be read, or names nothing that runs, is ignored.
            if let Ok(params) = serde_json::from_str(params) {
                self.cancel(&params);
            }
            return;
        }
        let (id, method) = match &message {
            Ok(Message::Request(request)) => (Some(request.id.clone()), &*request.method),
            Ok(Message::Notification(notification)) => (None, &*notification.method),
            _ => (None, ""),
        };
        match self.era(line, &message, method) {
            None => {}
            Some(Era::Modern) => {
                let head = head::modern(&self.current.core(), line);
                self.start(id, method, Era::Modern, head, line).await;
            }
            Some(Era::Legacy) => {
                let head = head::legacy(Method::POST, self.session.clone());
                self.start(id, method, Era::Legacy, head, line).await;
                if method == "notifications/initialized" && self.session.is_some() {
                    let head = head::legacy(Method::GET, self.session.clone());
                    self.start(None, "", Era::Legacy, head, &[]).await;
                }
            }
        }
    }

    /// Which era a line belongs to; `None` for one that nobody waits for.
    fn era(
        &self,
        line: &[u8],
        message: &Result<Message<'_>, DecodeError>,
        method: &str,
    ) -> Option<Era> {
        if legacy::stands_alone(line) {
            return Some(Era::Modern);
        }
        if self.current.core().legacy && (self.session.is_some() || method == "initialize") {
            return Some(Era::Legacy);
        }
        match message {
            // BASE-B7: there is nothing that a modern client could answer.
            Ok(Message::Result(_) | Message::Error(_) | Message::Notification(_)) => None,
            _ => Some(Era::Modern),
        }
    }

    async fn start(
        &mut self,
        id: Option<RequestId>,
        method: &str,
        era: Era,
        head: http::request::Parts,
        line: &[u8],
    ) {
        let slot = self.calls.take(1);
        let is_batch = line.trim_ascii_start().starts_with(b"[");
        // A batch of 2025-03-26 has no id, and as many calls as it likes.
        if slot.is_none() && (id.is_some() || is_batch) {
            let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "Too much is running");
            return self.refuse(id, error).await;
        }
        if weigh(line) > self.memory.limits().parsed_bytes {
            let error = ErrorObject::new(
                ErrorCode::INVALID_REQUEST,
                "The message has too many values",
            );
            return self.refuse(id, error).await;
        }
        let inbound = Inbound::of_line(
            head,
            line.to_vec().into(),
            Admission::of_line(&self.calls),
            clock::now() + self.call,
            self.shutdown.clone(),
            Arc::clone(&self.memory),
        );
        let core = self.current.core();
        if method == "initialize" && matches!(era, Era::Legacy) && self.session.is_none() {
            // What comes next needs the session, so this is waited for.
            let response = legacy::answer(core, inbound).await;
            self.session = response.headers().get(MCP_SESSION_ID).cloned();
            let call = Call::new(id, method);
            return call.pass_on(response, &self.lines).await;
        }
        if !core.legacy
            && method == "initialize"
            && matches!(era, Era::Modern)
            && let Some(refusal) = legacy::not_spoken(&inbound)
        {
            return Call::new(id, method).pass_on(refusal, &self.lines).await;
        }
        let call = Call::new(id.clone(), method);
        let lines = self.lines.clone();
        let slot = slot.filter(|_| id.is_some() || is_batch);
        let task = self.tasks.spawn(async move {
            let _slot = slot;
            match era {
                Era::Legacy => run(call, Box::pin(legacy::answer(core, inbound)), lines).await,
                Era::Modern => {
                    let answering = async { modern::answer(core, inbound).finish().await };
                    run(call, Box::pin(answering), lines).await;
                }
            }
        });
        if let Some(id) = id {
            self.by_task.insert(task.id(), id.clone());
            self.running.insert(id, task);
        }
    }

    /// Stops a request, and with it everything that would be said about it
    /// (CANCEL-S4, CANCEL-S5).
    fn cancel(&mut self, params: &CancelledNotificationParams) {
        if let Some(task) = self.running.remove(&params.request_id) {
            let reason = params.reason.as_deref();
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
        // Nobody reads any more: the connection is about to end.
        let _ = self.lines.send(line).await;
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
            // Nobody will answer what was asked.
            legacy::hang_up(&self.current.core(), &session);
        }
        let drained = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(patience, drained).await.is_err() {
            self.tasks.shutdown().await;
        }
    }
}
