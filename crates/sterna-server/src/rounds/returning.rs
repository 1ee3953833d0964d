//! Handlers that return their questions: low-level ones, and the backend.

use std::sync::Arc;

use sterna_protocol::json::{JsonObject, RawJson, RawObject};
use sterna_protocol::result::Outcome;

use super::Round;
use crate::backend::{BackendCall, BackendResult};
use crate::call::{Answers, Call};
use crate::failure::Failure;
use crate::handler::{Boxed, LowLevel};

/// Handler that returns its questions and its state.
pub(super) trait ReturnsQuestions<T>: Sync {
    /// Begins one turn of the handler.
    fn start(&self, round: &Round, retry: Retry) -> Boxed<Outcome<T>>;
}

/// Parts of a turn that the one before it led to.
pub(super) struct Retry {
    pub(super) answers: JsonObject,
    pub(super) state: Option<Arc<str>>,
    /// Number of turns before this one.
    pub(super) turn: u32,
}

impl<T> ReturnsQuestions<T> for LowLevel<T> {
    fn start(&self, round: &Round, retry: Retry) -> Boxed<Outcome<T>> {
        let call = Call::new(
            round.request.clone(),
            round.shared_input(),
            round.target.written(),
            retry.state,
            retry.turn,
        );
        self(call, Answers::new(retry.answers))
    }
}

/// The backend of the server that a round belongs to.
pub(super) struct ToBackend;

impl<T: BackendResult + Send + 'static> ReturnsQuestions<T> for ToBackend {
    fn start(&self, round: &Round, retry: Retry) -> Boxed<Outcome<T>> {
        let Some(backed) = &round.core.backend else {
            return Box::pin(std::future::ready(Err(Failure::Internal)));
        };
        // It was read as an object when it came.
        let arguments = round.target.arguments.as_deref();
        let arguments =
            arguments.and_then(|text| RawObject::try_from(RawJson::parse(text).ok()?).ok());
        let name = round.target.name.clone();
        let call = BackendCall::new(round.request.clone(), name, arguments, retry.turn);
        let call = call.with_retry(retry.state, retry.answers);
        let serving = T::start(Arc::clone(&backed.backend), call);
        Box::pin(async move { serving.await.map_err(Failure::Handler) })
    }
}
