use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::http::MCP_PROTOCOL_VERSION;
use sterna_protocol::implementation::Implementation;
use sterna_protocol::jsonrpc::{Notification, Request, Untagged};
use sterna_protocol::legacy::{self, InitializeRequestParams, InitializeResult, RootsCapability};
use sterna_protocol::logging::LoggingLevel;
use sterna_protocol::methods::{Notification as _, Request as _};
use sterna_protocol::version::ProtocolVersion;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::asides::Asides;
use super::asking::Asking;
use super::news::News;
use super::servant::Servant;
use super::station;
use crate::answers::Answers;
use crate::error::{Error, Fault, printable};
use crate::listen::Change;
use crate::transport::MCP_SESSION_ID;
use crate::wire::{Deaf, Patience, Wire};

/// A session with a legacy server, opened anew when the server forgot it.
#[derive(Debug)]
pub(crate) struct Session {
    pub(super) wire: Arc<Wire>,
    answers: Answers,
    info: Implementation,
    pub(super) patience: Patience,
    /// The questions of the server that are being answered.
    pub(crate) asking: Arc<Asking>,
    current: Mutex<Opened>,
    /// Held while a session is being opened, so that only one is.
    opening: tokio::sync::Mutex<()>,
    /// Listens to what the server says unasked.
    station: Mutex<JoinSet<()>>,
    pub(crate) news: Arc<News>,
    /// What the server can do.
    pub(super) able: Mutex<legacy::ServerCapabilities>,
    /// From which level up the server was asked for log messages.
    pub(super) level: Mutex<Option<LoggingLevel>>,
    /// How many want to hear of a resource.
    pub(super) watched: Mutex<BTreeMap<String, usize>>,
    pub(super) asides: Asides,
}

/// What requests of a session carry.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) headers: HeaderMap,
    /// Which life of the connection it belongs to.
    epoch: u64,
}

impl Opened {
    /// Whether the server tells sessions apart, so that it can forget one.
    pub(crate) fn has_id(&self) -> bool {
        self.headers.contains_key(MCP_SESSION_ID)
    }
}

impl Session {
    pub(crate) async fn open(
        wire: Arc<Wire>,
        answers: Answers,
        info: Implementation,
        patience: Patience,
    ) -> Result<(Self, InitializeResult), Error> {
        let session = Self {
            wire,
            answers,
            info,
            patience,
            asking: Arc::default(),
            current: Mutex::new(Opened {
                headers: HeaderMap::new(),
                epoch: 0,
            }),
            opening: tokio::sync::Mutex::new(()),
            station: Mutex::new(JoinSet::new()),
            news: Arc::new(News::new()),
            able: Mutex::default(),
            level: Mutex::default(),
            watched: Mutex::default(),
            asides: Asides::default(),
        };
        let result = session.initialize().await?;
        Ok((session, result))
    }

    /// The session as it is, opened anew if the connection has had another
    /// life meanwhile.
    pub(crate) async fn current(&self) -> Result<Opened, Error> {
        let opened = lock(&self.current).clone();
        if opened.epoch == self.wire.transport.epoch()? {
            return Ok(opened);
        }
        self.renew(&opened).await
    }

    /// Opens a new session in place of `old`, unless somebody else has.
    pub(crate) async fn renew(&self, old: &Opened) -> Result<Opened, Error> {
        let _opening = self.opening.lock().await;
        let current = lock(&self.current).clone();
        if current.epoch == old.epoch && current.headers == old.headers {
            self.initialize().await?;
            self.news.tell(Change::Reopened);
        }
        Ok(lock(&self.current).clone())
    }

    /// Who answers questions that come up in the session.
    pub(crate) fn servant(&self, about: &str, headers: HeaderMap) -> Servant {
        Servant {
            answers: self.answers.clone(),
            server: self.wire.transport.place().into(),
            about: about.into(),
            headers,
            asking: self.asking.clone(),
            news: self.news.clone(),
        }
    }

    pub(crate) fn headers(&self) -> HeaderMap {
        lock(&self.current).headers.clone()
    }

    async fn initialize(&self) -> Result<InitializeResult, Error> {
        let epoch = self.wire.transport.epoch()?;
        let params = InitializeRequestParams::new(
            ProtocolVersion::V2025_11_25,
            declared(&self.answers.capabilities()),
            self.info.clone(),
        );
        let id = self.wire.next_id().into();
        let request = Request::new(id, legacy::Initialize::METHOD, params);
        let asked = self
            .wire
            .exchange(request, HeaderMap::new(), &Deaf, self.patience);
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
            // Whoever knows it can speak in the session.
            id.set_sensitive(true);
            headers.insert(MCP_SESSION_ID, id);
        }
        let ready = Notification::new(legacy::Initialized::METHOD, None::<()>);
        self.wire.tell(ready, headers.clone()).await?;
        lock(&self.able).clone_from(&result.capabilities);
        lock(&self.level).take();
        let nobody = self.answers.capabilities() == ClientCapabilities::default();
        // Where nobody answers or listens, HTTP is spared the stream.
        if nobody && self.wire.transport.has_headers() && !self.news.is_wanted() {
            *lock(&self.station) = JoinSet::new();
        } else {
            self.tune_in(headers.clone()).await;
        }
        *lock(&self.current) = Opened { headers, epoch };
        Ok(result)
    }

    /// Listens to what the server says unasked, if that is not being done;
    /// whether it can be done.
    pub(crate) async fn attend(&self) -> Result<bool, Error> {
        let opened = self.current().await?;
        while lock(&self.station).try_join_next().is_some() {}
        let listening = !lock(&self.station).is_empty();
        Ok(listening || self.tune_in(opened.headers).await)
    }

    /// Listens in the new session instead of the old one.
    ///
    /// A server may drop a question that it wants to ask there before anybody
    /// listens, so this waits a moment for the stream to be open. Whether it
    /// may be there.
    async fn tune_in(&self, headers: HeaderMap) -> bool {
        let servant = self.servant("", headers);
        let (ready, tuned) = oneshot::channel();
        let mut station = JoinSet::new();
        station.spawn(station::listen(self.wire.clone(), servant, ready));
        *lock(&self.station) = station;
        let tuned = tokio::time::timeout(TUNING, tuned).await;
        !matches!(tuned, Ok(Ok(false)))
    }
}

/// Some servers hold a stream's header back until they have something to say;
/// they are not waited for longer than this.
const TUNING: Duration = Duration::from_millis(500);

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
