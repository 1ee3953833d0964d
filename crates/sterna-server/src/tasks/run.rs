//! Runs the handler of a task, and turns its end into the end of the task.

use std::collections::BTreeMap;
use std::sync::Arc;

use sterna_flow::{BackendError, Error, Outcome as Ending};
use sterna_protocol::jsonrpc::{ErrorCode, ErrorObject};
use sterna_protocol::tool::CallToolResult;
use sterna_protocol::version::ProtocolVersion;
use sterna_runner::{Running, run};
use sterna_store::{Outcome, Question, TaskUpdate};

use super::delivery::{Stop, TaskDelivery};
use super::desk::Desk;
use super::job::{Job, failed, json};
use super::keeper::{Keeper, Lost};
use crate::call::Request;
use crate::failure::Failure;
use crate::reply::finish_tool;

/// How a worker lets go of a task.
pub(super) enum End {
    Finished(Outcome),
    HandedOver,
    /// To those who can read it.
    Left,
    Parked,
    Retry,
}

impl End {
    /// In a word, for operators.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Finished(Outcome::Cancelled) => "cancelled",
            Self::Finished(Outcome::Completed(_)) => "finished",
            Self::Finished(_) => "failed",
            Self::HandedOver => "shed",
            Self::Left => "left",
            Self::Parked => "waiting",
            Self::Retry => "retry",
        }
    }
}

/// A task that is being worked on.
pub(super) struct Work {
    job: Job,
    tool: String,
    request: Request,
    driver: Running<CallToolResult, Failure>,
    desk: Arc<Desk>,
    /// What the client is asked, as the store knows it.
    open: BTreeMap<String, Question>,
}

impl Work {
    pub(super) fn new(
        job: Job,
        tool: String,
        request: Request,
        driver: Running<CallToolResult, Failure>,
        desk: Arc<Desk>,
        open: BTreeMap<String, Question>,
    ) -> Self {
        Self {
            job,
            tool,
            request,
            driver,
            desk,
            open,
        }
    }

    /// Goes on until the task ends, waits, or must be let go of.
    pub(super) async fn go_on(self, keeper: &mut Keeper) -> Result<End, Lost> {
        let Self {
            mut job,
            tool,
            request,
            mut driver,
            desk,
            open,
        } = self;
        let answers = std::mem::take(&mut job.claimed.answers);
        let claimed = TaskUpdate::new(job.claimed.summary.status, answers);
        let mut delivery = TaskDelivery::new(&job, &tool, &request, &desk, keeper, open);
        delivery.hear(claimed, &mut driver);
        // A flow that asks while it runs is not suspended.
        let resume = |_| Err(Stop::Exit(End::Finished(failed(&Failure::Internal))));
        match run(&mut driver, &mut delivery, resume).await {
            Ok(ending) => Ok(Ended {
                job: &job,
                tool: &tool,
                request: &request,
            }
            .exit(ending)),
            Err(Stop::Exit(exit)) => Ok(exit),
            Err(Stop::Lost(lost)) => Err(lost),
        }
    }
}

/// A task whose flow has ended.
struct Ended<'a> {
    job: &'a Job,
    tool: &'a str,
    request: &'a Request,
}

impl Ended<'_> {
    fn exit(&self, ending: Ending<CallToolResult, Failure>) -> End {
        match ending {
            Ending::Finished(mut result) => {
                let finished = finish_tool(&self.job.core, self.tool, &mut result);
                End::Finished(match finished {
                    Ok(()) => self.outcome(&result),
                    Err(failure) => failed(&failure),
                })
            }
            Ending::Failed(Failure::Tool(text)) => {
                End::Finished(self.outcome(&CallToolResult::error(text)))
            }
            Ending::Failed(failure) => End::Finished(failed(&failure)),
            Ending::Cancelled => End::Finished(Outcome::Cancelled),
            Ending::Shed(_) => End::HandedOver,
            Ending::Stopped(error) => self.stopped(&error),
            _ => End::Finished(failed(&Failure::Internal)),
        }
    }

    /// What a result makes of the task: whether a tool that failed has
    /// completed its task depends on the era (TASK-S24).
    fn outcome(&self, result: &CallToolResult) -> Outcome {
        let version = &self.request.meta().protocol_version;
        let in_session = *version < ProtocolVersion::V2026_07_28;
        match result.is_error {
            Some(true) if in_session => Outcome::Failed(json(result)),
            _ => Outcome::Completed(json(result)),
        }
    }

    fn stopped(&self, error: &Error) -> End {
        if let Error::Plug {
            source: BackendError::FenceLost,
            ..
        } = error
        {
            // Nothing is written any more: giving the task back is refused, and that is fine.
            return End::Parked;
        }
        // The text may hold what a panic said; it is for the author alone.
        tracing::error!(target: "sterna::tasks", tool = self.tool, "{error}");
        match error {
            Error::Plug { .. } | Error::Transient { .. } => End::Retry,
            Error::OtherAnswers { .. } => End::Finished(failed(&Failure::State)),
            Error::StateVersion { .. } => {
                let why = "The task was begun by an earlier version of the server";
                let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, why);
                End::Finished(Outcome::Failed(json(&error)))
            }
            mistake => End::Finished(failed(&self.job.core.mistaken(mistake))),
        }
    }
}
