use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use sterna_flow::{Listener as _, Progress};
use sterna_protocol::json::{JsonObject, RawObject};
use sterna_protocol::logging::{LoggingLevel, LoggingMessageNotificationParams};
use sterna_protocol::version::ProtocolVersion;

use crate::call::Request;

/// One round of a call that a [`Backend`](super::Backend) serves.
///
/// Everything that is true of the request at hand comes from [`Request`], which
/// it derefs to.
#[derive(Clone)]
pub struct BackendCall {
    request: Request,
    name: String,
    arguments: Option<RawObject>,
    state: Option<Arc<str>>,
    answers: JsonObject,
    round: u32,
}

impl BackendCall {
    pub(crate) fn new(
        request: Request,
        name: String,
        arguments: Option<RawObject>,
        round: u32,
    ) -> Self {
        Self {
            request,
            name,
            arguments,
            state: None,
            answers: JsonObject::new(),
            round,
        }
    }

    /// Adds what a retry brings.
    pub(crate) fn with_retry(mut self, state: Option<Arc<str>>, answers: JsonObject) -> Self {
        self.state = state;
        self.answers = answers;
        self
    }

    /// The same call without its state and its answers, for a backend that took
    /// them for a question of its own and begins only now.
    #[must_use]
    pub fn anew(self) -> Self {
        Self {
            state: None,
            answers: JsonObject::new(),
            ..self
        }
    }

    /// Name of the tool or the prompt, or URI of the resource.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Arguments of a tool or a prompt, as the client wrote them.
    #[must_use]
    pub fn arguments(&self) -> Option<&RawObject> {
        self.arguments.as_ref()
    }

    /// State that the backend returned in the round before. The client could
    /// neither read nor change it, nor bring it here from another request.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Answers of the client by the keys of their questions, as it wrote them.
    /// Each is an object. If the round before returned a state, only the keys
    /// that it asked for are here.
    #[must_use]
    pub fn answers(&self) -> &JsonObject {
        &self.answers
    }

    /// Number of times that the request was returned to the client.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Revision that the request is in.
    #[must_use]
    pub fn protocol_version(&self) -> &ProtocolVersion {
        &self.request.meta().protocol_version
    }

    /// Members of the request's `_meta` that the specification does not define.
    #[must_use]
    pub fn extra_meta(&self) -> &JsonObject {
        &self.request.meta().extra
    }

    /// Returns `true` if the client wants to hear of progress.
    #[must_use]
    pub fn wants_progress(&self) -> bool {
        self.request.reporter().is_some() && self.request.meta().progress_token.is_some()
    }

    /// Lowest level of log messages that the client wants; `None` if it wants
    /// none.
    #[must_use]
    pub fn log_level(&self) -> Option<&LoggingLevel> {
        self.request.reporter()?;
        self.request.meta().log_level.as_ref()
    }

    /// Reports progress under the client's token, if it wants to hear of it.
    pub fn progress(&self, progress: Progress) {
        if let Some(reporter) = self.request.reporter() {
            reporter.progress(progress);
        }
    }

    /// Passes a log message on to the client as it is, if it asked for the level.
    pub fn pass_on_log(&self, message: &LoggingMessageNotificationParams) {
        if let Some(reporter) = self.request.reporter() {
            reporter.pass_on_log(message);
        }
    }
}

impl Deref for BackendCall {
    type Target = Request;

    fn deref(&self) -> &Request {
        &self.request
    }
}

impl fmt::Debug for BackendCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackendCall")
            .field("round", &self.round)
            .finish_non_exhaustive()
    }
}
