use std::fmt;
use std::sync::Arc;

use http::HeaderMap;
use sterna_oauth::OAuth;
use sterna_protocol::capabilities::{ClientCapabilities, ExtensionId, ServerCapabilities};
use sterna_protocol::discover::DiscoverResult;
use sterna_protocol::elicitation::{ElicitRequestFormParams, ElicitRequestUrlParams, ElicitResult};
use sterna_protocol::implementation::Implementation;
use sterna_protocol::roots::Root;
use sterna_protocol::sampling::{CreateMessageRequestParams, CreateMessageResult};
use sterna_protocol::version::ProtocolVersion;

use super::Client;
use crate::answers::{Answers, Question, RateLimit};
use crate::cache::{Cache, ToolCache};
use crate::config::Config;
use crate::core::{Core, Protocol};
use crate::era::{self, Era};
use crate::error::{BoxError, Error};
use crate::transport::{
    Endpoint, Http, Lines, Stdio, Tapped, Target, Transport, Watcher, WireMessage,
};
use crate::wire::Wire;

/// Settings of a [`Client`]; [`connect`](Self::connect) makes it.
///
/// The handlers decide which questions the server may ask: a client without a
/// form handler declares no forms.
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), sterna_client::Error> {
/// use sterna_client::Client;
/// use sterna_protocol::elicitation::{ElicitAction, ElicitResult};
///
/// let client = Client::builder("https://mcp.example/mcp")
///     .on_form(|question| async move {
///         println!("{} wants to know: {}", question.server, question.params.message);
///         Ok(ElicitResult::new(ElicitAction::Decline))
///     })
///     .connect()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct Builder {
    target: Target,
    answers: Answers,
    auth: Option<OAuth>,
    config: Config,
    era: Era,
    extensions: ClientCapabilities,
    headers: HeaderMap,
    info: Option<Implementation>,
    session_capabilities: Option<ClientCapabilities>,
    watcher: Option<Watcher>,
}

impl Builder {
    pub(super) fn new(target: Target) -> Self {
        Self {
            target,
            answers: Answers::new(Config::default().samples_per_minute),
            auth: None,
            config: Config::default(),
            era: Era::Any,
            extensions: ClientCapabilities::default(),
            headers: HeaderMap::new(),
            info: Some(Implementation::new("sterna", env!("CARGO_PKG_VERSION"))),
            session_capabilities: None,
            watcher: None,
        }
    }

    /// Answers forms.
    ///
    /// The answer is checked against the form before it is sent.
    pub fn on_form<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(Question<ElicitRequestFormParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ElicitResult, BoxError>> + Send + 'static,
    {
        self.answers.form = Some(Arc::new(move |question| Box::pin(answer(question))));
        self
    }

    /// Sends the user to a URL. Nothing here opens one by itself: show it,
    /// whole, and ask.
    pub fn on_url<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(Question<ElicitRequestUrlParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ElicitResult, BoxError>> + Send + 'static,
    {
        self.answers.url = Some(Arc::new(move |question| Box::pin(answer(question))));
        self
    }

    /// Has a model write something.
    pub fn on_sample<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(Question<CreateMessageRequestParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CreateMessageResult, BoxError>> + Send + 'static,
    {
        self.answers.sample = Some(Arc::new(move |question| Box::pin(answer(question))));
        self
    }

    /// Has a model write something, with the tools that the server lends it.
    pub fn on_sample_with_tools<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(Question<CreateMessageRequestParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CreateMessageResult, BoxError>> + Send + 'static,
    {
        self.answers.samples_with_tools = true;
        self.on_sample(answer)
    }

    /// Lists the places this client works on.
    pub fn on_roots<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(Question<()>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Vec<Root>, BoxError>> + Send + 'static,
    {
        self.answers.roots = Some(Arc::new(move |question| Box::pin(answer(question))));
        self
    }

    /// The places this client works on, always the same.
    pub fn roots(self, roots: impl IntoIterator<Item = Root>) -> Self {
        let roots: Arc<[Root]> = roots.into_iter().collect();
        self.on_roots(move |_| {
            let roots = roots.to_vec();
            async { Ok(roots) }
        })
    }

    /// Gets and renews tokens for a server on HTTP.
    pub fn auth(mut self, auth: OAuth) -> Self {
        self.auth = Some(auth);
        self
    }

    /// Adds header fields to every request on HTTP, such as an API key.
    pub fn headers(mut self, headers: HeaderMap) -> Self {
        self.headers = headers;
        self
    }

    /// Sets limits.
    pub fn config(mut self, config: Config) -> Self {
        self.answers.sampling = Arc::new(RateLimit::new(config.samples_per_minute));
        self.config = config;
        self
    }

    /// Rules an era out, or skips finding it out.
    pub fn era(mut self, era: Era) -> Self {
        self.era = era;
        self
    }

    /// Declares an extension.
    pub fn extension(mut self, extension: &ExtensionId) -> Self {
        self.extensions = self.extensions.with_extension(extension);
        self
    }

    /// Declares these capabilities to a server with sessions, in place of those of
    /// the handlers: for callers that answer the questions of
    /// [paused calls](crate::PausedCall) themselves.
    pub fn session_capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.session_capabilities = Some(capabilities);
        self
    }

    /// Sets the name and version that the client sends; `None` sends none.
    pub fn info(mut self, info: impl Into<Option<Implementation>>) -> Self {
        self.info = info.into();
        self
    }

    /// Shows every message as it passes, for debugging.
    ///
    /// Messages are shown whole, with state, answers and arguments in them:
    /// mask what others may see. What says on a pipe that a call was dropped is
    /// not shown.
    pub fn on_wire(mut self, show: impl Fn(&WireMessage<'_>) + Send + Sync + 'static) -> Self {
        self.watcher = Some(Arc::new(show));
        self
    }

    /// Connects and finds out what the server speaks.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, refuses, or speaks no revision that this
    /// client may.
    pub async fn connect(self) -> Result<Client, Error> {
        let era = self.era;
        let mut core = self.prepare()?;
        core.server = era::find(&mut core, era).await?;
        let core = Arc::new(core);
        Ok(Client { core })
    }

    /// A client in a session that another one opened, known by its headers. The
    /// server is not asked anything.
    pub(crate) fn adopt(
        self,
        version: ProtocolVersion,
        headers: HeaderMap,
    ) -> Result<Client, Error> {
        let mut core = self.prepare()?;
        core.server = era::adopt(&mut core, version, headers);
        let core = Arc::new(core);
        Ok(Client { core })
    }

    /// The connection and its settings, before anything is sent.
    fn prepare(self) -> Result<Core, Error> {
        let max_message = self.config.max_message_bytes;
        let transport: Box<dyn Transport> = match self.target.0 {
            Endpoint::Child(command) => Box::new(Stdio::new(command, max_message)?),
            Endpoint::Duplex(duplex) => Box::new(Lines::new(
                duplex.endpoint,
                duplex.reader,
                duplex.writer,
                max_message,
            )),
            Endpoint::Url(url) => Box::new(Http::new(
                &url,
                self.auth,
                self.headers,
                self.config.connect_timeout,
                max_message,
            )?),
        };
        let transport: Box<dyn Transport> = match self.watcher {
            Some(watcher) => Box::new(Tapped::new(transport, watcher)),
            None => transport,
        };
        Ok(Core {
            wire: Arc::new(Wire::new(transport)),
            config: self.config,
            answers: self.answers,
            info: self.info,
            extensions: self.extensions,
            session_capabilities: self.session_capabilities,
            tools: ToolCache::default(),
            cache: Cache::default(),
            protocol: Protocol::Modern,
            server: DiscoverResult::new(Vec::new(), ServerCapabilities::default()),
        })
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("target", &self.target)
            .field("answers", &self.answers)
            .field("config", &self.config)
            .field("era", &self.era)
            .finish_non_exhaustive()
    }
}
