//! One operation on its worker: its questions and its results, in HTTP.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use sterna_flow::{BackendError, Diagnostic, Error, OpenQuestion, Outcome as FlowOutcome};
use sterna_runner::Admit;
use sterna_runner::tasks::{TaskProtocol, WorkerExit};
use sterna_store::Outcome;

use crate::cx::RequestInfo;
use crate::declared::DeclaredQuestion;
use crate::fault::Fault;

/// Operation that a worker runs. Its results are stored responses.
pub(crate) struct OperationTask {
    /// Name of its route's operations, for the log.
    pub(crate) target: String,
    pub(crate) info: Arc<RequestInfo>,
    pub(crate) guesses: Guesses,
}

/// Answers to secrets that were looked at.
///
/// A question of a task takes one answer, so each key of a secret that was asked
/// before the present one is one guess.
pub(crate) struct Guesses {
    secrets: Vec<DeclaredQuestion>,
    keys: BTreeSet<String>,
    most: usize,
}

impl Guesses {
    /// Guesses at those of `questions` that are secret, at most `most` for each of
    /// them. The questions under `answered` were answered before.
    pub(crate) fn new(questions: &[DeclaredQuestion], answered: Vec<String>, most: u32) -> Self {
        let secrets = questions.iter().filter(|question| question.is_secret);
        Self {
            secrets: secrets.cloned().collect(),
            keys: answered.into_iter().collect(),
            most: most as usize,
        }
    }

    /// Notes that `key` is asked; `false` if its secret was answered as often as it
    /// may be.
    fn may_ask(&mut self, key: &str) -> bool {
        let mut secrets = self.secrets.iter();
        let Some(secret) = secrets.find(|secret| secret.is_asked_by(key)) else {
            return true;
        };
        let earlier = self.keys.iter();
        let earlier = earlier.filter(|earlier| *earlier != key && secret.is_asked_by(earlier));
        let may_ask = earlier.count() < self.most;
        self.keys.insert(key.to_owned());
        may_ask
    }
}

impl TaskProtocol for OperationTask {
    type Output = Bytes;
    type Failure = Bytes;

    fn misuse(&self) -> Option<Outcome> {
        let mistake = self.info.mistake()?;
        tracing::error!(target: "sterna::axum", operation = self.target, "MR0201: {mistake}");
        Some(failed(Fault::Internal))
    }

    fn report(&self, diagnostic: Diagnostic) {
        tracing::warn!(target: "sterna::axum", operation = self.target, "{diagnostic}");
    }

    fn admit(&mut self, question: &OpenQuestion) -> Result<Admit<Bytes>, Outcome> {
        match self.guesses.may_ask(question.key.as_str()) {
            true => Ok(Admit::Send(question.request.clone())),
            false => Err(failed(Fault::Attempts)),
        }
    }

    fn lacking(&mut self) -> Option<Outcome> {
        None
    }

    fn broken(&self) -> Outcome {
        failed(Fault::Internal)
    }

    fn exit(&self, ended: FlowOutcome<Bytes, Bytes>) -> WorkerExit {
        match ended {
            FlowOutcome::Finished(response) => WorkerExit::Finished(Outcome::Completed(response)),
            FlowOutcome::Failed(response) => WorkerExit::Finished(Outcome::Failed(response)),
            FlowOutcome::Cancelled => WorkerExit::Finished(Outcome::Cancelled),
            FlowOutcome::Shed(_) => WorkerExit::HandedOver,
            FlowOutcome::Stopped(error) => self.stopped(&error),
            _ => finished(Fault::Internal),
        }
    }
}

impl OperationTask {
    fn stopped(&self, error: &Error) -> WorkerExit {
        if let Error::Plug {
            source: BackendError::FenceLost,
            ..
        } = error
        {
            // Nothing is written any more: giving the task back is refused, and that is fine.
            return WorkerExit::Passivated;
        }
        // The text may hold what a panic said; it is for the author alone.
        tracing::error!(target: "sterna::axum", operation = self.target, "{error}");
        match error {
            Error::Plug { .. } | Error::Transient { .. } => WorkerExit::Retry,
            Error::OtherAnswers { .. } => finished(Fault::Refused("other_answers")),
            Error::StateVersion { .. } => finished(Fault::OldVersion),
            _ => finished(Fault::Internal),
        }
    }
}

/// Returns the way in which a worker lets go of an operation that failed.
pub(crate) fn finished(fault: Fault) -> WorkerExit {
    WorkerExit::Finished(failed(fault))
}

fn failed(fault: Fault) -> Outcome {
    Outcome::Failed(fault.to_stored())
}
