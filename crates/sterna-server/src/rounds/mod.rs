//! Requests that may take several rounds.
//!
//! Nothing is kept between two rounds (MRTR-S8): the sealed state has all that a
//! flow needs to go on, and any instance that has the keys can serve the next
//! round (MRTR-S16).

mod flow;
pub(crate) mod gate;
mod live;
mod low_level;
mod returning;
mod round_ledger;
mod state;
mod strict;
mod wanted;

use std::sync::Arc;

use serde_json::Value;
use sterna_flow::Diagnostic;
use sterna_protocol::input::{InputRequired, InputResponses, RequestState};
use sterna_protocol::result::Outcome;
use sterna_seal::{Lifetimes, TargetDigest};

pub(crate) use live::ClientPrompter;
use returning::ToBackend;
pub(crate) use round_ledger::{PreparedRound, round_failed};
use sterna_http::{Shutdown, clock};
pub use sterna_runner::state::{SealedState, StateContent};
pub(crate) use wanted::Wanted;

use crate::backend::BackendResult;
use crate::call::{AskedQuestions, Request, Written};
use crate::core::Core;
use crate::failure::Failure;
use crate::handler::{HandlerInput, HandlerKind};
use crate::middleware::{RoundEnd, RoundGuard, RoundOutput};
use crate::tasks::CreatedTask;

/// One round of a request.
///
/// It is served from a box: a future that takes it by value holds two of it.
pub(crate) struct Round {
    pub(crate) core: Arc<Core>,
    pub(crate) request: Request,
    pub(crate) target: Target,
    /// Input of the handler; `None` if it is the text of the target's arguments.
    pub(crate) tree: Option<Arc<Value>>,
    pub(crate) responses: Option<InputResponses>,
    pub(crate) state: Option<RequestState>,
    /// Trace that the client names for this request.
    pub(crate) traceparent: Option<String>,
    pub(crate) shutdown: Shutdown,
    /// Work that was done already to enter the round in the ledger, if it was
    /// entered.
    pub(crate) entered: Option<Box<PreparedRound>>,
}

/// Target of a request: a state is bound to it and to the caller (MRTR-S5).
pub(crate) struct Target {
    pub(crate) method: &'static str,
    pub(crate) name: String,
    /// The digest of the two, if it is kept.
    pub(crate) digest: Option<TargetDigest>,
    /// The arguments as JSON text; a retry must repeat them.
    pub(crate) arguments: Option<String>,
    pub(crate) lifetimes: Lifetimes,
}

impl Target {
    /// Returns the method and the name.
    pub(crate) fn parts(&self) -> (&'static str, &str) {
        (self.method, &self.name)
    }

    /// Returns the form in which the arguments came.
    fn written(&self) -> Written {
        match self.method {
            "tools/call" => Written::AsJson,
            _ => Written::AsText,
        }
    }
}

impl Round {
    /// Shows the round to the middleware of the server, until its end.
    fn watch(&self) -> RoundGuard {
        let (method, name) = self.target.parts();
        RoundGuard::begin(&self.core.middleware, &self.request, method, name)
    }

    /// Input of the handler.
    fn input(&self) -> HandlerInput<'_> {
        match &self.tree {
            Some(tree) => HandlerInput::Tree(tree),
            None => HandlerInput::Text(self.target.arguments.as_deref().unwrap_or_default()),
        }
    }

    /// Input of the handler as a tree that can be shared.
    fn shared_input(&self) -> Arc<Value> {
        match &self.tree {
            Some(tree) => Arc::clone(tree),
            None => Arc::new(self.input().tree().into_owned()),
        }
    }

    /// Serves the round.
    pub(crate) async fn play<T>(
        mut self: Box<Self>,
        way: &HandlerKind<T>,
    ) -> Result<Played<T>, Failure>
    where
        T: RoundOutput + BackendResult,
    {
        let entered = self.entered.as_mut();
        let watched = match entered.and_then(|entered| entered.watched.take()) {
            Some(watched) => watched,
            None => self.watch(),
        };
        let (core, request) = (Arc::clone(&self.core), self.request.clone());
        let outcome = match way {
            HandlerKind::Backend => Box::pin(low_level::play(self, &ToBackend)).await,
            HandlerKind::Flow(handler) => flow::play(self, &**handler).await,
            // Boxed, so that it does not make the other way's future larger.
            HandlerKind::LowLevel(handler) => Box::pin(low_level::play(self, &**handler)).await,
        };
        let outcome = watched.outcome(outcome);
        let ended = end_of(&outcome);
        state::note_end(&core, &request, ended);
        watched.end(ended);
        outcome
    }

    /// Returns the failure of a mistake that the handler's author has made, if
    /// there is one.
    fn misuse(&self) -> Option<Failure> {
        let mistake = self.request.mistake()?;
        tracing::error!(target: "sterna::rounds", name = self.shown(), "MR0201: {mistake}");
        Some(self.core.mistaken(format_args!("MR0201: {mistake}")))
    }

    /// Logs a diagnostic for the handler's author.
    fn report(&self, diagnostic: &Diagnostic) {
        tracing::warn!(target: "sterna::rounds", name = self.shown(), "{diagnostic}");
    }

    /// Returns the name of the target as it may be logged.
    fn shown(&self) -> &str {
        let offers = &self.core.offers;
        let shown = offers.shown(self.target.method, &self.target.name);
        shown.unwrap_or_default()
    }

    /// Serves a request whose client is asked while it waits.
    pub(crate) async fn run_in_session<T, P>(
        mut self: Box<Self>,
        way: &HandlerKind<T>,
        prompter: &P,
    ) -> Result<T, Failure>
    where
        T: RoundOutput + BackendResult,
        P: ClientPrompter,
    {
        let watched = self.watch();
        let (core, request) = (Arc::clone(&self.core), self.request.clone());
        let result = match way {
            HandlerKind::Backend => Box::pin(live::low_level(self, &ToBackend, prompter)).await,
            HandlerKind::Flow(handler) => live::flow(self, &**handler, prompter).await,
            HandlerKind::LowLevel(handler) => {
                // Read once for all turns.
                self.tree = Some(self.shared_input());
                live::low_level(self, &**handler, prompter).await
            }
        };
        let result = watched.result(result);
        let ended = match &result {
            Ok(_) => RoundEnd::Finished,
            Err(_) => RoundEnd::Failed,
        };
        state::note_end(&core, &request, ended);
        watched.end(ended);
        result
    }
}

/// Outcome of a round.
pub(crate) type Played<T> = Outcome<T, Continued>;

/// Continuation of a flow that a round did not end.
pub(crate) enum Continued {
    /// A retry brings the answers.
    Asking(AskedQuestions),
    Task(Box<CreatedTask>),
}

/// End of a round, for middleware and metrics.
fn end_of<T>(outcome: &Result<Played<T>, Failure>) -> RoundEnd {
    let asks_nothing = match outcome {
        Err(_) => return RoundEnd::Failed,
        Ok(Outcome::Complete(_) | Outcome::Extension(Continued::Task(_))) => {
            return RoundEnd::Finished;
        }
        Ok(Outcome::InputRequired(required)) => required.requests().is_empty(),
        Ok(Outcome::Extension(Continued::Asking(asked))) => asked.is_empty(),
    };
    match asks_nothing {
        true => RoundEnd::Shed,
        false => RoundEnd::Asked,
    }
}

/// Ends a round with the questions that were sent through its gate.
fn asking<T>(required: InputRequired) -> Played<T> {
    // Clients of the official Go SDK retry only if they see the member.
    Outcome::InputRequired(required.spelling_out_none())
}

/// Charges the caller for questions it is about to be asked.
fn charge(round: &Round, questions: usize) -> Result<(), Failure> {
    let count = u32::try_from(questions).unwrap_or(u32::MAX);
    let admission = round.request.admission();
    admission
        .charge_questions(count, clock::now())
        .map_err(|refusal| Failure::Forbidden(Box::new(refusal)))
}
