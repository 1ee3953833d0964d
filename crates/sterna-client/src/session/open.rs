use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::http::MCP_PROTOCOL_VERSION;
use sterna_protocol::implementation::Implementation;
use sterna_protocol::jsonrpc::{Notification, Request, Untagged};
use sterna_protocol::legacy::{self, InitializeRequestParams, InitializeResult, RootsCapability};
use sterna_protocol::logging::LoggingLevel;
use sterna_protocol::methods::{NotificationMethod as _, RequestMethod as _};
use sterna_protocol::version::ProtocolVersion;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::background::BackgroundSends;
use super::broadcast::Broadcast;
use super::cookies;
use super::listener;
use super::open_questions::OpenQuestions;
use super::running_calls::{RelayedMessages, RunningCalls};
use super::server_requests::ServerRequests;
use crate::answers::Answers;
use crate::error::{Error, Fault, printable};
use crate::notifications::Change;
use crate::transport::MCP_SESSION_ID;
use crate::wire::{IgnoreAll, Timeouts, Wire};

/// A session with a legacy server, opened anew when the server forgot it.
#[derive(Debug)]
pub(crate) struct Session {
    pub(super) wire: Arc<Wire>,
    answers: Answers,
    /// Capabilities that `initialize` declares.
    declared: ClientCapabilities,
    info: Implementation,
    pub(super) timeouts: Timeouts,
    /// The questions of the server that are being answered.
    pub(crate) open_questions: Arc<OpenQuestions>,
    current: Mutex<OpenSession>,
    /// Held while a session is being opened, so that only one is.
    opening: tokio::sync::Mutex<()>,
    /// Listens to what the server says unasked.
    listener: Mutex<JoinSet<()>>,
    pub(crate) broadcast: Arc<Broadcast>,
    /// Capabilities of the server.
    pub(super) able: Mutex<legacy::ServerCapabilities>,
    /// Log level that the server was asked for.
    pub(super) level: Mutex<Option<LoggingLevel>>,
    /// Number of subscribers of each resource.
    pub(super) watched: Mutex<BTreeMap<String, usize>>,
    pub(super) background: Arc<BackgroundSends>,
    /// Calls under way, so that a question outside of all streams finds its call.
    pub(crate) running: Arc<RunningCalls>,
    /// A detached call needs the session after this client.
    kept: AtomicBool,
}

/// Headers of requests in a session.
#[derive(Clone, Debug)]
pub(crate) struct OpenSession {
    pub(crate) headers: HeaderMap,
    /// Epoch of the connection it belongs to.
    epoch: u64,
}

impl OpenSession {
    /// Returns true if the server gave the session an id, so that it can forget it.
    pub(crate) fn has_id(&self) -> bool {
        self.headers.contains_key(MCP_SESSION_ID)
    }
}

impl Session {
    pub(crate) async fn open(
        wire: Arc<Wire>,
        answers: Answers,
        declared: ClientCapabilities,
        info: Implementation,
        timeouts: Timeouts,
    ) -> Result<(Self, InitializeResult), Error> {
        let session = Self::new(wire, answers, declared, info, timeouts);
        let result = session.initialize().await?;
        Ok((session, result))
    }

    /// A session that another client opened, with its headers. The server is not
    /// asked anything.
    pub(crate) fn adopt(
        wire: Arc<Wire>,
        answers: Answers,
        declared: ClientCapabilities,
        info: Implementation,
        timeouts: Timeouts,
        headers: HeaderMap,
    ) -> Self {
        let session = Self::new(wire, answers, declared, info, timeouts);
        lock(&session.current).headers = headers;
        session.keep();
        session
    }

    fn new(
        wire: Arc<Wire>,
        answers: Answers,
        declared: ClientCapabilities,
        info: Implementation,
        timeouts: Timeouts,
    ) -> Self {
        if wire.transport.has_headers() {
            // Clients may share a session, and some servers share the stored events
            // of all sessions, known by the id of the request alone.
            wire.scatter_ids();
        }
        Self {
            wire,
            answers,
            declared,
            info,
            timeouts,
            open_questions: Arc::default(),
            current: Mutex::new(OpenSession {
                headers: HeaderMap::new(),
                epoch: 0,
            }),
            opening: tokio::sync::Mutex::new(()),
            listener: Mutex::new(JoinSet::new()),
            broadcast: Arc::new(Broadcast::new()),
            able: Mutex::default(),
            level: Mutex::default(),
            watched: Mutex::default(),
            background: Arc::default(),
            running: Arc::default(),
            kept: AtomicBool::new(false),
        }
    }

    /// Capabilities that the server was told of.
    pub(crate) fn declared(&self) -> &ClientCapabilities {
        &self.declared
    }

    /// Counts a call that pauses, and hands it the questions that come outside of
    /// its stream.
    pub(crate) fn relayed_messages(&self) -> RelayedMessages {
        self.running.enter_pausing()
    }

    /// Leaves the session open at the server when the client is closed.
    pub(crate) fn keep(&self) {
        self.kept.store(true, Ordering::SeqCst);
    }

    /// Returns true if the session is not to be ended.
    pub(crate) fn is_kept(&self) -> bool {
        self.kept.load(Ordering::SeqCst)
    }

    /// The session as it is, opened anew if the connection has had another
    /// life meanwhile.
    pub(crate) async fn current(&self) -> Result<OpenSession, Error> {
        let opened = lock(&self.current).clone();
        if opened.epoch == self.wire.transport.epoch()? {
            return Ok(opened);
        }
        self.renew(&opened).await
    }

    /// Opens a new session in place of `old`, unless another call has.
    pub(crate) async fn renew(&self, old: &OpenSession) -> Result<OpenSession, Error> {
        let _opening = self.opening.lock().await;
        let current = lock(&self.current).clone();
        if current.epoch == old.epoch && current.headers == old.headers {
            self.initialize().await?;
            self.broadcast.tell(Change::Reopened);
        }
        Ok(lock(&self.current).clone())
    }

    /// Returns the handler for requests of the server in this session.
    pub(crate) fn server_requests(&self, about: &str, headers: HeaderMap) -> ServerRequests {
        ServerRequests {
            answers: self.answers.clone(),
            server: self.wire.transport.endpoint().into(),
            about: about.into(),
            headers,
            has_streams: self.wire.transport.has_headers(),
            open_questions: self.open_questions.clone(),
            running: self.running.clone(),
            broadcast: self.broadcast.clone(),
        }
    }

    pub(crate) fn headers(&self) -> HeaderMap {
        lock(&self.current).headers.clone()
    }

    async fn initialize(&self) -> Result<InitializeResult, Error> {
        let epoch = self.wire.transport.epoch()?;
        let params = InitializeRequestParams::new(
            ProtocolVersion::V2025_11_25,
            declared(&self.declared),
            self.info.clone(),
        );
        let id = self.wire.next_id().into();
        let request = Request::new(id, legacy::Initialize::METHOD, params);
        let asked = self
            .wire
            .exchange(request, HeaderMap::new(), &IgnoreAll, self.timeouts);
        let (Untagged(result), answer): (Untagged<InitializeResult>, _) = asked.await?;
        let version = &result.protocol_version;
        if version.is_modern() || !ProtocolVersion::KNOWN.contains(version) {
            let offered = printable(version.as_str());
            return Err(Fault::NoVersion { offered }.into());
        }
        let mut headers = HeaderMap::new();
        if let Ok(version) = HeaderValue::from_str(version.as_str()) {
            headers.insert(MCP_PROTOCOL_VERSION, version);
        }
        if let Some(mut id) = answer.get(MCP_SESSION_ID).cloned() {
            // A secret: with it, requests can be made in the session.
            id.set_sensitive(true);
            headers.insert(MCP_SESSION_ID, id);
        }
        if let Some(cookies) = cookies::set_by(&answer) {
            headers.insert(COOKIE, cookies);
        }
        let ready = Notification::new(legacy::Initialized::METHOD, None::<()>);
        self.wire.tell(ready, headers.clone()).await?;
        lock(&self.able).clone_from(&result.capabilities);
        lock(&self.level).take();
        let no_handlers = self.answers.capabilities() == ClientCapabilities::default()
            && self.declared == ClientCapabilities::default();
        // Without handlers and subscribers, HTTP needs no stream.
        if no_handlers && self.wire.transport.has_headers() && !self.broadcast.has_subscribers() {
            *lock(&self.listener) = JoinSet::new();
        } else {
            self.start_listener(headers.clone()).await;
        }
        *lock(&self.current) = OpenSession { headers, epoch };
        Ok(result)
    }

    /// Listens to what the server says unasked, if that is not being done;
    /// whether it can be done.
    pub(crate) async fn ensure_listening(&self) -> Result<bool, Error> {
        let opened = self.current().await?;
        while lock(&self.listener).try_join_next().is_some() {}
        let listening = !lock(&self.listener).is_empty();
        Ok(listening || self.start_listener(opened.headers).await)
    }

    /// Listens in the new session instead of the old one.
    ///
    /// A server may drop a question that it sends before the stream is open, so
    /// this waits a moment for it. Returns false if there is no such stream.
    async fn start_listener(&self, headers: HeaderMap) -> bool {
        let server_requests = self.server_requests("", headers);
        let (ready, tuned) = oneshot::channel();
        let mut listener = JoinSet::new();
        listener.spawn(listener::listen(self.wire.clone(), server_requests, ready));
        *lock(&self.listener) = listener;
        let tuned = tokio::time::timeout(LISTENER_START, tuned).await;
        !matches!(tuned, Ok(Ok(false)))
    }
}

/// Some servers hold a stream's header back until they have something to say;
/// they are not waited for longer than this.
const LISTENER_START: Duration = Duration::from_millis(500);

fn declared(capabilities: &ClientCapabilities) -> legacy::ClientCapabilities {
    let mut declared = legacy::ClientCapabilities::default();
    declared.elicitation.clone_from(&capabilities.elicitation);
    declared.sampling.clone_from(&capabilities.sampling);
    declared.roots = capabilities
        .roots
        .as_ref()
        .map(|_| RootsCapability::default());
    declared
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
