//! A call on its way: what was asked for, and what the last round brought.

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

use super::hearing::Listeners;
use super::{Reply, Subject};
use crate::answers;
use crate::core::{Core, Meta, Spoken};
use crate::error::{Error, Fault, printable};
use crate::schema::OutputSchema;
use crate::tasks::TaskHandle;
use crate::wire::Patience;

/// A request and where it stands.
#[derive(Debug)]
pub(crate) struct Flow<T> {
    pub(crate) subject: Arc<Subject>,
    /// What the caller adds to `_meta`.
    pub(crate) meta: JsonObject,
    /// What is declared, in every round the same.
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) log_level: Option<LoggingLevel>,
    /// What the caller said about a task that it may become.
    pub(crate) task: Option<TaskMetadata>,
    /// How often it was sent again.
    pub(crate) rounds: u32,
    /// What the next request brings along; forgotten once it is sent.
    pub(crate) responses: Option<InputResponses>,
    pub(crate) state: Option<RequestState>,
    pub(crate) reply: PhantomData<fn() -> T>,
}

impl<T: Reply> Flow<T> {
    /// Sends the request once.
    pub(crate) async fn send(
        &mut self,
        core: &Core,
        listeners: &Listeners,
        patience: Patience,
    ) -> Result<Outcome<T, TaskHandle>, Error> {
        // BASE-B15: better than to throw away what a tool has done.
        self.promised(core)?;
        // MRTR-C6: both are for this request and for no later one.
        let (responses, state) = (self.responses.take(), self.state.take());
        let mut refreshed = false;
        // TOOL-C4: what is called is told, with what is not.
        tracing::debug!(
            method = self.subject.method(),
            name = printable(self.subject.name()),
            round = self.rounds,
            "call"
        );
        loop {
            let meta = Meta {
                capabilities: self.capabilities.clone(),
                extra: self.meta.clone(),
                log_level: self.log_level.clone(),
                task: self.task.clone(),
            };
            let round = (responses.clone(), state.clone());
            let sent = core.call(&self.subject, meta, round, listeners, patience);
            match sent.await {
                // HTTP-C13: the list we went by is not the server's any more.
                Err(error)
                    if !refreshed
                        && self.is_outdated(core, &error)
                        && core.learn(&self.subject).await? =>
                {
                    refreshed = true;
                }
                Ok(outcome) => return self.admit(core, outcome),
                Err(error) => return Err(error),
            }
        }
    }

    /// Accepts only what the request allows.
    fn admit(
        &self,
        core: &Core,
        outcome: Outcome<T, TaskHandle>,
    ) -> Result<Outcome<T, TaskHandle>, Error> {
        match &outcome {
            Outcome::Complete(result) => self.approve(core, result).map(|()| outcome),
            // TASK-C2: a task stands for a tool call that allowed it, for nothing else.
            Outcome::Extension(_)
                if !matches!(*self.subject, Subject::Tool { .. })
                    || !(self.task.is_some() || self.capabilities.has_extension(EXTENSION)) =>
            {
                Err(Fault::Broken("a task nobody asked for").into())
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
            let tool = printable(self.subject.name());
            Fault::Misfit { tool, source }.into()
        })
    }

    /// What the tool promised, as far as that is known.
    fn promised(&self, core: &Core) -> Result<Option<Arc<OutputSchema>>, Error> {
        let Subject::Tool { name, .. } = &*self.subject else {
            return Ok(None);
        };
        let known = core.tools.get(name);
        let output = known.and_then(|known| known.output.clone());
        output.transpose().map_err(|source| {
            let what = format!("the output schema of the tool `{}`", printable(name));
            Fault::Dialect { what, source }.into()
        })
    }

    /// Whether the tool may have to be called in another way: with other
    /// headers, or in a session as a task.
    fn is_outdated(&self, core: &Core, error: &Error) -> bool {
        let Some(refusal) = error.rpc() else {
            return false;
        };
        match &core.spoken {
            Spoken::Legacy(session) => {
                refusal.code == ErrorCode::METHOD_NOT_FOUND
                    && self.capabilities.has_extension(EXTENSION)
                    && session.runs_tasks()
            }
            Spoken::Modern => {
                let found = ProtocolError::find(refusal);
                matches!(found, Ok(Some(ProtocolError::HeaderMismatch)))
            }
        }
    }

    /// Refuses questions that were never allowed, and more than anybody asks.
    pub(crate) fn check(&self, required: &InputRequired) -> Result<(), Error> {
        answers::admit(required.requests(), &self.capabilities)
    }

    /// Prepares the next round (MRTR-C2, MRTR-C6): the answers and the state of
    /// this one, or none.
    pub(crate) fn again(&mut self, answers: Option<InputResponses>, state: Option<RequestState>) {
        self.rounds = self.rounds.saturating_add(1);
        self.responses = answers;
        self.state = state;
    }
}

impl<T> Clone for Flow<T> {
    fn clone(&self) -> Self {
        Self {
            subject: self.subject.clone(),
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
