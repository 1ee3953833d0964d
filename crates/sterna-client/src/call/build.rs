use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde::Serialize;
use sterna_protocol::capabilities::{ClientCapabilities, ElicitationCapability, ExtensionId};
use sterna_protocol::input::{InputResponses, RequestState};
use sterna_protocol::json::{JsonObject, RawJson};
use sterna_protocol::legacy::TaskMetadata;
use sterna_protocol::logging::{LoggingLevel, LoggingMessageNotificationParams};
use sterna_protocol::progress::ProgressNotificationParams;
use sterna_protocol::tasks::EXTENSION;
use sterna_protocol::tool::CallToolResult;

use super::options::CallOptions;
use super::runner::CallRunner;
use super::state::CallState;
use super::{CallTarget, CancelHandle, Reply, Step};
use crate::core::{Core, Protocol};
use crate::error::{Error, Fault};

/// A call that is being put together; awaiting it makes it.
///
/// Questions of the server in the meantime are answered by the handlers of the
/// client. Dropping the future cancels the call.
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), sterna_client::Error> {
/// use std::time::Duration;
/// use sterna_client::Client;
///
/// let client = Client::connect("https://mcp.example/mcp").await?;
/// let result = client
///     .call("deploy")
///     .arg("service", "web")
///     .on_progress(|progress| println!("{:?}", progress.message))
///     .deadline(Duration::from_secs(120))
///     .await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a call is made by awaiting it"]
pub struct Call<T> {
    pub(super) core: Arc<Core>,
    pub(super) target: Result<CallTarget, Error>,
    meta: JsonObject,
    capabilities: Option<ClientCapabilities>,
    options: CallOptions,
    handle: CancelHandle,
    task: Option<TaskMetadata>,
    retry: Option<Retry>,
    reply: PhantomData<fn() -> T>,
}

/// Round of a call that others have begun.
struct Retry {
    answers: InputResponses,
    state: Option<RequestState>,
    rounds: u32,
}

impl<T: Reply> Call<T> {
    pub(crate) fn new(core: Arc<Core>, target: CallTarget) -> Self {
        Self {
            core,
            target: Ok(target),
            meta: JsonObject::new(),
            capabilities: None,
            options: CallOptions::new(),
            handle: CancelHandle::new(),
            task: None,
            retry: None,
            reply: PhantomData,
        }
    }

    /// Adds a member to the `_meta` of every request of this call.
    pub fn meta(mut self, key: impl Into<String>, value: impl Serialize) -> Self {
        match RawJson::of(&value) {
            Ok(value) => {
                self.meta.insert(key, value);
            }
            Err(error) => self.target = Err(Fault::Arguments(Some(error)).into()),
        }
        self
    }

    /// Declares these capabilities instead of those of the handlers.
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// Sets all options at once.
    pub fn options(mut self, options: CallOptions) -> Self {
        self.options = options;
        self
    }

    /// Requests progress notifications, as [`CallOptions::on_progress`] does.
    pub fn on_progress(
        mut self,
        tell: impl Fn(&ProgressNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.options = self.options.on_progress(tell);
        self
    }

    /// Requests log messages about this call, as [`CallOptions::on_log`] does.
    pub fn on_log(
        mut self,
        level: LoggingLevel,
        tell: impl Fn(&LoggingMessageNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.options = self.options.on_log(level, tell);
        self
    }

    /// Limits the time without a sign of the server, as
    /// [`CallOptions::timeout`] does.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.timeout(timeout);
        self
    }

    /// Limits the time of all rounds together, as [`CallOptions::deadline`]
    /// does.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.options = self.options.deadline(deadline);
        self
    }

    /// Limits how often the call is sent again, as [`CallOptions::max_rounds`]
    /// does.
    pub fn max_rounds(mut self, rounds: u32) -> Self {
        self.options = self.options.max_rounds(rounds);
        self
    }

    /// Sends the request as the retry number `rounds` of a call that was begun
    /// elsewhere, with answers and state as they are: for a gateway, which knows
    /// neither the question nor what the state means. Everyone else resumes a
    /// [`PausedCall`](super::PausedCall), which checks its answers.
    ///
    /// Servers of before 2026-07-28 know no retries: they get the call anew.
    pub fn as_retry(
        mut self,
        rounds: u32,
        answers: InputResponses,
        state: Option<RequestState>,
    ) -> Self {
        self.retry = Some(Retry {
            answers,
            state,
            rounds,
        });
        self
    }

    /// A handle that cancels the call from elsewhere.
    pub fn handle(&self) -> CancelHandle {
        self.handle.clone()
    }

    /// Makes the call and stops at the first question, for callers who answer
    /// by themselves, later or elsewhere. How often they do is theirs to limit.
    ///
    /// A person is assumed to be there: forms and URLs are declared besides
    /// what the handlers can do, unless [`capabilities`](Self::capabilities)
    /// says otherwise.
    ///
    /// A server of an earlier revision was told when its session began:
    /// [`Builder::session_capabilities`](crate::Builder::session_capabilities)
    /// says of what. It asks in the middle of the call. If it can resume the stream
    /// of the call, the paused call is plain data all the same; otherwise it keeps
    /// the connection: [`PausedCall::held`](crate::PausedCall::held).
    ///
    /// # Errors
    ///
    /// As of awaiting the call.
    pub async fn start(mut self) -> Result<Step<T>, Error> {
        let capabilities = self.capabilities.take().unwrap_or_else(|| {
            if let Protocol::Legacy(session) = &self.core.protocol {
                return self.core.with_extensions(session.declared().clone());
            }
            let mut capabilities = self.core.capabilities();
            capabilities.elicitation = Some(ElicitationCapability::form_and_url());
            capabilities
        });
        self.capabilities = Some(capabilities);
        // Boxed, because it is large and every caller's future would hold it.
        Box::pin(self.run()?.start()).await
    }

    /// The call as it sets out.
    fn run(self) -> Result<CallRunner<T>, Error> {
        let capabilities = match self.capabilities {
            Some(capabilities) => capabilities,
            None => self.core.capabilities(),
        };
        let log = self.options.listeners.log.as_ref();
        let mut call = CallState {
            target: Arc::new(self.target?),
            meta: self.meta,
            capabilities,
            log_level: log.map(|(level, _)| level.clone()),
            task: self.task,
            rounds: 0,
            responses: None,
            state: None,
            reply: PhantomData,
        };
        if let Some(retry) = self.retry {
            call.rounds = retry.rounds;
            call.responses = Some(retry.answers).filter(|answers| !answers.is_empty());
            call.state = retry.state;
        }
        Ok(CallRunner {
            core: self.core,
            call,
            options: self.options,
            handle: self.handle,
        })
    }
}

impl Call<CallToolResult> {
    /// Lets the call go on as a task, which the server may keep for `ttl`.
    ///
    /// A server of 2025-11-25 is asked to make it one. Later ones decide by
    /// themselves, also for how long; earlier ones, and those without tasks,
    /// answer the call as any other.
    pub fn task(mut self, ttl: impl Into<Option<Duration>>) -> Self {
        if self.core.server.capabilities.has_extension(EXTENSION) {
            let declared = self.capabilities.take();
            let declared = declared.unwrap_or_else(|| self.core.capabilities());
            self.capabilities = Some(declared.with_extension(&ExtensionId::TASKS));
        }
        let mut task = TaskMetadata::default();
        let millis = ttl.into().map(|ttl| ttl.as_millis());
        task.ttl = millis.map(|millis| u64::try_from(millis).unwrap_or(u64::MAX));
        self.task = Some(task);
        self
    }
}

impl<T: Reply> IntoFuture for Call<T> {
    type Output = Result<T, Error>;
    type IntoFuture = BoxFuture<'static, Result<T, Error>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async { self.run()?.finish().await })
    }
}

impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.target.as_ref().map(CallTarget::name);
        f.debug_struct("Call")
            .field("name", &name)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
