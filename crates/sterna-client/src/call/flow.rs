//! A call on its way: what was asked for, and what the last round brought.

use std::marker::PhantomData;
use std::sync::Arc;

use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::errors::ProtocolError;
use sterna_protocol::input::{InputRequired, InputResponses, RequestState};
use sterna_protocol::json::JsonObject;
use sterna_protocol::logging::LoggingLevel;
use sterna_protocol::result::Outcome;
use sterna_protocol::tasks::{self, CreateTaskResult};

use super::hearing::Listeners;
use super::{Reply, Subject};
use crate::core::{Core, Meta};
use crate::error::{Error, Fault, printable};
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
    ) -> Result<Outcome<T, CreateTaskResult>, Error> {
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
            };
            let round = (responses.clone(), state.clone());
            let sent = core.call(&self.subject, meta, round, listeners, patience);
            match sent.await {
                // HTTP-C13: the schema we went by is not the server's any more.
                Err(error)
                    if !refreshed && is_mismatch(&error) && core.learn(&self.subject).await? =>
                {
                    refreshed = true;
                }
                Ok(outcome) => return self.admit(outcome),
                Err(error) => return Err(error),
            }
        }
    }

    /// Accepts only what the request allows.
    fn admit(
        &self,
        outcome: Outcome<T, CreateTaskResult>,
    ) -> Result<Outcome<T, CreateTaskResult>, Error> {
        match &outcome {
            // TASK-C2: a task stands for a tool call that allowed it, for nothing else.
            Outcome::Extension(_)
                if !matches!(*self.subject, Subject::Tool { .. })
                    || !self.capabilities.has_extension(tasks::EXTENSION) =>
            {
                Err(Fault::Broken("a task nobody asked for").into())
            }
            _ => Ok(outcome),
        }
    }

    /// Refuses questions that were never allowed, and more than anybody asks.
    pub(crate) fn check(&self, required: &InputRequired) -> Result<(), Error> {
        if required.requests().len() > MOST_QUESTIONS {
            return Err(Fault::Broken("more questions than anybody asks at once").into());
        }
        let undeclared = required.requests().iter().find(|(_, request)| {
            let needed = request.required_capabilities();
            self.capabilities.missing(&needed).is_some()
        });
        match undeclared {
            Some((key, request)) => Err(Fault::NoHandler {
                key: printable(key),
                method: request.method(),
            }
            .into()),
            None => Ok(()),
        }
    }
}

impl<T> Clone for Flow<T> {
    fn clone(&self) -> Self {
        Self {
            subject: self.subject.clone(),
            meta: self.meta.clone(),
            capabilities: self.capabilities.clone(),
            log_level: self.log_level.clone(),
            rounds: self.rounds,
            responses: self.responses.clone(),
            state: self.state.clone(),
            reply: PhantomData,
        }
    }
}

fn is_mismatch(error: &Error) -> bool {
    let found = error.rpc().map(ProtocolError::find);
    matches!(found, Some(Ok(Some(ProtocolError::HeaderMismatch))))
}

/// Every question may open a window in front of somebody.
const MOST_QUESTIONS: usize = 100;
