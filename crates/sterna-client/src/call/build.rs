use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use sterna_protocol::capabilities::{ClientCapabilities, ElicitationCapability};
use sterna_protocol::json::{JsonObject, RawJson};
use sterna_protocol::logging::{LoggingLevel, LoggingMessageNotificationParams};
use sterna_protocol::progress::ProgressNotificationParams;

use super::cancel::CancelHandle;
use super::flow::Flow;
use super::hearing::Listeners;
use super::{Reply, Step, Subject};
use crate::core::Core;
use crate::error::{Error, Fault};
use crate::oauth::BoxFuture;

/// A call that is being put together; awaiting it makes it.
///
/// Whatever the server asks meanwhile is answered by the handlers of the
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
    pub(super) subject: Result<Subject, Error>,
    meta: JsonObject,
    capabilities: Option<ClientCapabilities>,
    pub(super) listeners: Listeners,
    pub(super) limits: Limits,
    pub(super) handle: CancelHandle,
    reply: PhantomData<fn() -> T>,
}

/// What a call may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) timeout: Duration,
    pub(crate) deadline: Duration,
    pub(crate) rounds: u32,
}

impl<T: Reply> Call<T> {
    pub(crate) fn new(core: Arc<Core>, subject: Subject) -> Self {
        let limits = Limits {
            timeout: core.config.timeout,
            deadline: core.config.deadline,
            rounds: core.config.max_rounds,
        };
        Self {
            core,
            subject: Ok(subject),
            meta: JsonObject::new(),
            capabilities: None,
            listeners: Listeners::default(),
            limits,
            handle: CancelHandle::new(),
            reply: PhantomData,
        }
    }

    /// Adds a member to the `_meta` of every request of this call.
    pub fn meta(mut self, key: impl Into<String>, value: impl Serialize) -> Self {
        match RawJson::of(&value) {
            Ok(value) => {
                self.meta.insert(key, value);
            }
            Err(error) => self.subject = Err(Fault::Arguments(Some(error)).into()),
        }
        self
    }

    /// Declares these capabilities instead of what the handlers can do.
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// Asks for progress.
    pub fn on_progress(
        mut self,
        tell: impl Fn(&ProgressNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.listeners.progress = Some(Arc::new(tell));
        self
    }

    /// Asks for log messages about this call, from `level` up.
    pub fn on_log(
        mut self,
        level: LoggingLevel,
        tell: impl Fn(&LoggingMessageNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.listeners.log = Some((level, Arc::new(tell)));
        self
    }

    /// How long the server may be silent in one round.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = timeout;
        self
    }

    /// How long all rounds may take together, without the time that people
    /// take to answer.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.limits.deadline = deadline;
        self
    }

    /// How often the call may be sent again.
    pub fn max_rounds(mut self, rounds: u32) -> Self {
        self.limits.rounds = rounds;
        self
    }

    /// A handle that cancels the call from elsewhere.
    pub fn handle(&self) -> CancelHandle {
        self.handle.clone()
    }

    /// Makes the call and stops at the first question, for callers who answer
    /// by themselves, later or elsewhere.
    ///
    /// A person is assumed to be there: forms and URLs are declared besides
    /// what the handlers can do, unless [`capabilities`](Self::capabilities)
    /// says otherwise.
    ///
    /// # Errors
    ///
    /// As of awaiting the call.
    pub async fn start(mut self) -> Result<Step<T>, Error> {
        let capabilities = self.capabilities.take().unwrap_or_else(|| {
            let mut capabilities = self.core.capabilities();
            capabilities.elicitation = Some(ElicitationCapability::form_and_url());
            capabilities
        });
        self.capabilities = Some(capabilities);
        // Boxed, because it is large and every caller's future would hold it.
        Box::pin(super::run::start(self)).await
    }

    /// The call as it sets out.
    pub(super) fn flow(&mut self) -> Result<Flow<T>, Error> {
        let capabilities = self.capabilities.take();
        let subject = std::mem::replace(&mut self.subject, Err(Fault::Cancelled.into()))?;
        Ok(Flow {
            subject: Arc::new(subject),
            meta: std::mem::take(&mut self.meta),
            capabilities: capabilities.unwrap_or_else(|| self.core.capabilities()),
            log_level: self.listeners.log.as_ref().map(|(level, _)| level.clone()),
            rounds: 0,
            responses: None,
            state: None,
            reply: PhantomData,
        })
    }
}

impl<T: Reply> IntoFuture for Call<T> {
    type Output = Result<T, Error>;
    type IntoFuture = BoxFuture<'static, Result<T, Error>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(super::run::run(self))
    }
}

impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.subject.as_ref().map(Subject::name);
        f.debug_struct("Call")
            .field("name", &name)
            .field("listeners", &self.listeners)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
