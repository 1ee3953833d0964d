//! Resuming a paused call in its session.

use super::budget::Budget;
use super::options::{CallOptions, SessionQuestions};
use super::round::session_outcome;
use super::runner::{step, unless_cancelled};
use super::{CancelHandle, PausedCall, Reply, Step};
use crate::client::Client;
use crate::core::{AnsweredQuestions, Pausing, SessionCall, SessionPause};
use crate::error::Error;

/// Answers the questions of `paused` and goes on to the next ones, or to the end.
pub(super) async fn resume<T: Reply>(
    paused: &PausedCall<T>,
    session: &SessionPause,
    client: &Client,
    (options, handle): (&CallOptions, &CancelHandle),
    budget: &mut Budget,
) -> Result<Step<T>, Error> {
    let core = &client.core;
    let mut call = paused.call.clone();
    call.prepare_retry(None, None);
    let pausing = match options.session_questions {
        SessionQuestions::Hold => Pausing::Hold,
        SessionQuestions::Handle | SessionQuestions::Pause => Pausing::Detach,
    };
    let context = SessionCall {
        about: paused.name(),
        allowed: &call.capabilities,
        pausing,
        listeners: &options.listeners,
        timeouts: budget.timeouts(),
    };
    let answered = AnsweredQuestions {
        questions: &paused.questions,
        answers: &paused.answers,
    };
    let resumed = core.resume_in_session(session, answered, context);
    let reached = unless_cancelled(handle, budget.send(core, resumed)).await;
    if let (true, SessionPause::Detached(detached)) = (handle.is_cancelled(), session) {
        // Dropping it says nothing, so that it is said here.
        if let Err(error) = core.cancel_detached(detached).await {
            tracing::debug!(%error, "the server goes on with a call that was cancelled");
        }
    }
    let outcome = session_outcome(reached)?;
    if let sterna_protocol::result::Outcome::Complete(result) = &outcome {
        call.approve(core, result)?;
    }
    Ok(step(core, call, outcome))
}
