//! A route as the workers of its operations see it.

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use http::request::Parts;
use serde_json::Value;
use sterna_flow::{Asked, BuildMatch, ExecutionMode, Fingerprint, Journal, Kind, Limits, Run};
use sterna_runner::effects::with_store;
use sterna_runner::tasks::{StartedTask, TaskShared, Unreadable, WorkerExit, read_journal};
use sterna_store::{Claimed, Owner, Phase};

use crate::core::RouteCore;
use crate::cx::{Cx, RequestInfo, check_json};
use crate::fault::Fault;
use crate::handler::ErasedHandler;
use crate::operations::{
    Guesses, OperationRoute, OperationTask, RestoreHead, StoredAnswer, StoredRequest, finished,
    replay, to_note,
};
use crate::stored_response::StoredResponse;

impl<S> OperationRoute for RouteCore<S>
where
    S: Clone + Send + Sync + 'static,
{
    fn owner(&self, head: &Parts) -> Option<Owner> {
        self.caller_of(head).map(|caller| self.owner_of(&caller))
    }

    fn check_answer(&self, key: &str, schema: &Value, answer: &Value) -> Result<(), String> {
        match self
            .question(key)
            .filter(|question| question.shown == *schema)
        {
            Some(question) => question.check(answer),
            None => check_json(schema, answer),
        }
    }

    fn start(
        &self,
        claimed: &Claimed,
        shared: &Arc<TaskShared>,
    ) -> Result<StartedTask<OperationTask>, WorkerExit> {
        let operation = self.operation.as_ref().ok_or(WorkerExit::Left)?;
        let task = claimed.lease.task;
        let unreadable = |why| match why {
            Unreadable::Damaged => {
                tracing::error!(target: "sterna::axum", ?task, "MR0403: a stored operation cannot be read");
                finished(Fault::Internal)
            }
            Unreadable::Newer => {
                tracing::warn!(target: "sterna::axum", ?task, "MR0405: an operation of a newer version is left to others");
                WorkerExit::Left
            }
        };
        let stored = StoredRequest::read(claimed.request.clone()).map_err(unreadable)?;
        let config = &self.resume.config;
        if stored.head.version > config.flow.version {
            return Err(unreadable(Unreadable::Newer));
        }
        let answers = unasked(claimed, stored.head.answers.clone());
        let journal = journal(claimed, &answers, &config.flow.limits);
        let mut journal = journal.map_err(unreadable)?;
        journal.set_version(stored.head.version);
        // A worker that has left an operation to others has not tried it.
        let attempts = operation.settings.tasks.attempts;
        let summary = &claimed.summary;
        if claimed.attempt > attempts && !summary.status.is_final() {
            tracing::error!(target: "sterna::axum", ?task, attempts, "MR0402: an operation fails again and again");
            return Err(finished(Fault::Internal));
        }
        let answered = answered(claimed, &journal, &answers);
        let guesses = Guesses::new(&self.questions, answered, config.attempts);
        let build = match stored.head.build == self.resume.build {
            true => BuildMatch::Same,
            false => BuildMatch::Other,
        };
        let lifetime = summary.expires_at.map(|end| end - summary.created_at);
        let engine = with_store(&self.resume.engine, &operation.place.store, lifetime);
        let engine =
            engine.map_err(|error| finished(Fault::broken("no effect can be claimed", &error)))?;
        let run = Run::new(engine, claimed.flow)
            .mode(ExecutionMode::Task)
            .resume(journal, 0, build);
        let mut run = shared.attach(run, to_note);
        let caller = stored.head.caller();
        if let Some(subject) = caller.subject() {
            run = run.principal(subject);
        }
        let info = Arc::new(RequestInfo::new(caller));
        let work = StoredWork {
            handler: self.handler.clone(),
            state: self.resume.state.clone(),
            stored,
            restore: operation.settings.restore.clone(),
            max_response: config.max_response,
        };
        let mut driver = {
            let info = Arc::clone(&info);
            run.drive(|cx| Box::pin(work.handle(Cx::new(cx, info))) as _)
        };
        for StoredAnswer { key, answer, .. } in answers {
            // It was given when the operation began.
            driver.answer(&key, answer, summary.created_at);
        }
        let protocol = OperationTask {
            target: summary.target.as_str().to_owned(),
            info,
            guesses,
        };
        Ok(StartedTask::new(driver, protocol))
    }
}

/// Handler with the stored request that it is to handle.
struct StoredWork<S> {
    handler: ErasedHandler<S>,
    state: S,
    stored: StoredRequest,
    restore: Option<Arc<RestoreHead>>,
    max_response: usize,
}

impl<S: Send> StoredWork<S> {
    /// Runs the handler, and returns its response as it is stored.
    async fn handle(self, cx: Cx<'static>) -> Result<Bytes, Bytes> {
        let replayed = replay(&self.stored, self.restore.as_deref()).await;
        let Some(request) = replayed else {
            tracing::error!(target: "sterna::axum", "MR0403: a stored request is none");
            return Err(Fault::Internal.to_stored());
        };
        // Its body is in the request too.
        drop(self.stored);
        match self.handler.start(cx, request, self.state).await {
            Ok(response) => keep(response, self.max_response).await,
            Err(response) => Err(keep(response, self.max_response).await?),
        }
    }
}

/// Returns a response as it is stored, or the failure of one that cannot be.
async fn keep(response: Response, limit: usize) -> Result<Bytes, Bytes> {
    let stored = StoredResponse::collect(response, limit).await;
    let stored = stored.and_then(|stored| stored.write());
    stored.map_err(|not_kept| Fault::from(not_kept).to_stored())
}

/// Returns those answers of the request whose questions the operation has not asked
/// itself. It asks again what they did not answer.
fn unasked(claimed: &Claimed, mut answers: Vec<StoredAnswer>) -> Vec<StoredAnswer> {
    let asked = |key: &str| claimed.asked.iter().any(|asked| asked.key.as_str() == key);
    answers.retain(|answer| !asked(&answer.key));
    answers
}

/// Returns the keys of the questions that were answered, in this operation or in the
/// round trips before it, and of those that wait for an answer.
fn answered(claimed: &Claimed, journal: &Journal, answers: &[StoredAnswer]) -> Vec<String> {
    let entries = journal.entries().iter();
    let entries = entries.filter(|entry| entry.kind() == Kind::Answer);
    let before = entries.map(|entry| entry.key().as_str());
    let asked = claimed.asked.iter();
    let asked = asked.filter(|asked| asked.phase != Phase::Withdrawn);
    let along = answers.iter().map(|answer| &*answer.key);
    before
        .chain(asked.map(|asked| asked.key.as_str()))
        .chain(along)
        .map(str::to_owned)
        .collect()
}

/// Returns the journal of an operation. The questions of `answers` were asked before
/// it began.
fn journal(
    claimed: &Claimed,
    answers: &[StoredAnswer],
    limits: &Limits,
) -> Result<Journal, Unreadable> {
    let journal = read_journal(claimed, limits)?;
    if answers.is_empty() {
        return Ok(journal);
    }
    let before = answers
        .iter()
        .map(|answer| Asked::new(&answer.key, Fingerprint::new(answer.fingerprint)));
    let asked = journal.asked().iter().cloned().chain(before);
    let entries = journal.entries().to_vec();
    Journal::from_entries(entries, asked).map_err(|_| Unreadable::Damaged)
}
