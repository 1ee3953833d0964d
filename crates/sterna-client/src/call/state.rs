//! A call on its way: its target, and the result of the last round.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::errors::ProtocolError;
use sterna_protocol::input::{InputRequired, InputResponses, RequestState};
use sterna_protocol::json::JsonObject;
use sterna_protocol::jsonrpc::ErrorCode;
use sterna_protocol::legacy::TaskMetadata;
use sterna_protocol::logging::LoggingLevel;
use sterna_protocol::result::Outcome;
use sterna_protocol::tasks::EXTENSION;

use super::options::SessionQuestions;
use super::round::Unfinished;
use super::{CallTarget, Reply};
use crate::answers;
use crate::core::{Core, Protocol, RequestOptions};
use crate::error::{Error, Fault, printable};
use crate::notifications::Listeners;
use crate::schema::OutputSchema;
use crate::wire::Timeouts;

/// A request and where it stands.
#[derive(Debug)]
pub(crate) struct CallState<T> {
    pub(crate) target: Arc<CallTarget>,
    /// Members that the caller adds to `_meta`.
    pub(crate) meta: JsonObject,
    /// Declared capabilities, the same in every round.
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) log_level: Option<LoggingLevel>,
    /// Task parameter of the caller, for a call that may become a task.
    pub(crate) task: Option<TaskMetadata>,
    /// Number of retries so far.
    pub(crate) rounds: u32,
    /// Answers for the next request; taken when it is sent.
    pub(crate) responses: Option<InputResponses>,
    pub(crate) state: Option<RequestState>,
    pub(crate) reply: PhantomData<fn() -> T>,
}

impl<T: Reply> CallState<T> {
    /// Sends the request once.
    pub(super) async fn send(
        &mut self,
        core: &Core,
        listeners: &Listeners,
        timeouts: Timeouts,
        at_questions: SessionQuestions,
    ) -> Result<Outcome<T, Unfinished>, Error> {
        // BASE-B15: better than to throw away what a tool has done.
        self.promised(core)?;
        // MRTR-C6: both are for this request and for no later one.
        let (responses, state) = (self.responses.take(), self.state.take());
        let mut refreshed = false;
        // TOOL-C4: what is called is told, with what is not.
        tracing::debug!(
            method = self.target.method(),
            name = printable(self.target.name()),
            round = self.rounds,
            "call"
        );
        loop {
            let meta = RequestOptions {
                capabilities: self.capabilities.clone(),
                extra: self.meta.clone(),
                log_level: self.log_level.clone(),
                task: self.task.clone(),
            };
            let round = (responses.clone(), state.clone());
            let sent = core.call(&self.target, meta, round, listeners, timeouts, at_questions);
            match sent.await {
                // HTTP-C13: the list we went by is not the server's any more.
                Err(error)
                    if !refreshed
                        && self.is_outdated(core, &error)
                        && self.relist(core).await? =>
                {
                    refreshed = true;
                }
                Ok(outcome) => return self.admit(core, outcome),
                Err(error) => return Err(error),
            }
        }
    }

    /// Lists the tools anew. Returns true if the tool is now to be called in
    /// another way than before.
    async fn relist(&self, core: &Core) -> Result<bool, Error> {
        match &*self.target {
            CallTarget::Tool { name, .. } => core.relist_tools(name).await,
            CallTarget::Prompt { .. } | CallTarget::Resource { .. } => Ok(false),
        }
    }

    /// Accepts only results that the request allows.
    fn admit(
        &self,
        core: &Core,
        outcome: Outcome<T, Unfinished>,
    ) -> Result<Outcome<T, Unfinished>, Error> {
        match &outcome {
            Outcome::Complete(result) => self.approve(core, result).map(|()| outcome),
            // TASK-C2: a task stands for a tool call that allowed it, for nothing else.
            Outcome::Extension(Unfinished::Task(_))
                if !matches!(*self.target, CallTarget::Tool { .. })
                    || !(self.task.is_some() || self.capabilities.has_extension(EXTENSION)) =>
            {
                Err(Fault::Broken("a task that was not asked for").into())
            }
            _ => Ok(outcome),
        }
    }

    /// TOOL-C2: refuses what is not what the tool promised, as far as that is
    /// known.
    pub(crate) fn approve(&self, core: &Core, result: &T) -> Result<(), Error> {
        let Some(content) = result.structured() else {
            return Ok(());
        };
        let Some(schema) = self.promised(core)? else {
            return Ok(());
        };
        schema.check(content).map_err(|source| {
            let tool = printable(self.target.name());
            Fault::SchemaMismatch { tool, source }.into()
        })
    }

    /// Output schema of the tool, if it was listed.
    fn promised(&self, core: &Core) -> Result<Option<Arc<OutputSchema>>, Error> {
        let CallTarget::Tool { name, .. } = &*self.target else {
            return Ok(None);
        };
        if !core.config.checks_results {
            return Ok(None);
        }
        let known = core.tools.get(name);
        let output = known.and_then(|known| known.output.clone());
        output.transpose().map_err(|source| {
            let what = format!("the output schema of the tool `{}`", printable(name));
            Fault::Dialect { what, source }.into()
        })
    }

    /// Returns true if the tool may have to be called in another way: with other
    /// headers, or in a session as a task.
    fn is_outdated(&self, core: &Core, error: &Error) -> bool {
        let Some(refusal) = error.rpc() else {
            return false;
        };
        match &core.protocol {
            Protocol::Legacy(session) => {
                refusal.code == ErrorCode::METHOD_NOT_FOUND
                    && self.capabilities.has_extension(EXTENSION)
                    && session.runs_tasks()
            }
            Protocol::Modern => {
                let found = ProtocolError::find(refusal);
                matches!(found, Ok(Some(ProtocolError::HeaderMismatch)))
            }
        }
    }

    /// Refuses questions that were not declared, and more than the limit.
    pub(crate) fn check(&self, required: &InputRequired) -> Result<(), Error> {
        answers::admit(required.requests(), &self.capabilities)
    }

    /// Leaves out what a server that keeps the call is not sent again.
    pub(super) fn forget_arguments(&mut self) {
        let target = match (*self.target).clone() {
            CallTarget::Prompt { name, .. } => CallTarget::Prompt {
                name,
                arguments: BTreeMap::new(),
            },
            CallTarget::Tool { name, .. } => CallTarget::Tool {
                name,
                arguments: None,
            },
            resource @ CallTarget::Resource { .. } => resource,
        };
        self.target = Arc::new(target);
        self.meta = JsonObject::new();
    }

    /// Prepares the next round (MRTR-C2, MRTR-C6): the answers and the state of
    /// this one, or none.
    pub(crate) fn prepare_retry(
        &mut self,
        answers: Option<InputResponses>,
        state: Option<RequestState>,
    ) {
        self.rounds = self.rounds.saturating_add(1);
        self.responses = answers;
        self.state = state;
    }
}

impl<T> Clone for CallState<T> {
    fn clone(&self) -> Self {
        Self {
            target: self.target.clone(),
            meta: self.meta.clone(),
            capabilities: self.capabilities.clone(),
            log_level: self.log_level.clone(),
            task: self.task.clone(),
            rounds: self.rounds,
            responses: self.responses.clone(),
            state: self.state.clone(),
            reply: PhantomData,
        }
    }
}
