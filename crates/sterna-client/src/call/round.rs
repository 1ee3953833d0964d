//! One round of a call, in either era.

use http::HeaderMap;
use serde::de::DeserializeOwned;
use sterna_protocol::input::{
    InputRequest, InputRequests, InputRequired, InputResponses, RequestState,
};
use sterna_protocol::json::RawObject;
use sterna_protocol::jsonrpc::{Answer, Request, Untagged};
use sterna_protocol::legacy::{self, TaskMetadata};
use sterna_protocol::result::Outcome;
use sterna_protocol::tasks::{CreateTaskResult, Task};

use super::options::SessionQuestions;
use super::{CallTarget, Reply};
use crate::core::{
    CallHandler, Core, Pausing, Protocol, RequestOptions, SessionCall, SessionPause, SessionRound,
    TraceContext,
};
use crate::error::Error;
use crate::notifications::Listeners;
use crate::session::Session;
use crate::tasks::{self, TaskDialect, TaskHandle};
use crate::wire::Timeouts;

impl Core {
    /// Sends one round of a call.
    pub(super) async fn call<T: Reply>(
        &self,
        target: &CallTarget,
        meta: RequestOptions,
        round: (Option<InputResponses>, Option<RequestState>),
        listeners: &Listeners,
        timeouts: Timeouts,
        at_questions: SessionQuestions,
    ) -> Result<Outcome<T, Unfinished>, Error> {
        let task = match target {
            CallTarget::Tool { name, .. } => {
                tasks::wanted(self, name, &meta.capabilities, meta.task.as_ref())
            }
            CallTarget::Prompt { .. } | CallTarget::Resource { .. } => None,
        };
        let mut asked = Round {
            target,
            meta,
            round,
            task,
            listeners,
            timeouts,
        };
        let pausing = match at_questions {
            SessionQuestions::Handle => None,
            SessionQuestions::Hold => Some(Pausing::Hold),
            SessionQuestions::Pause => Some(Pausing::Detach),
        };
        match (&self.protocol, asked.task.is_some()) {
            (Protocol::Legacy(session), false) if let Some(pausing) = pausing => {
                let call = SessionCall {
                    about: target.name(),
                    allowed: &asked.meta.capabilities,
                    pausing,
                    listeners,
                    timeouts,
                };
                let request = |id| session_request(&asked, id);
                let started = self.start_in_session(session, call, request).await;
                session_outcome(started)
            }
            (Protocol::Legacy(session), false) => match self.legacy_round(session, &asked).await {
                Ok(result) => Ok(Outcome::Complete(result)),
                Err(error) => url_elicitations(error).map(Outcome::InputRequired),
            },
            (Protocol::Legacy(session), true) => match self.legacy_round(session, &asked).await {
                Ok(task_started) => self.task_started(&task_started, TaskDialect::Extension),
                Err(error) => url_elicitations(error).map(Outcome::InputRequired),
            },
            (Protocol::Modern, false) => {
                let sent = self
                    .modern_round::<Outcome<T, CreateTaskResult>>(asked)
                    .await?;
                Ok(self.map_task(sent, |created| created.task, TaskDialect::Extension))
            }
            (Protocol::Modern, true) => {
                tasks::undeclare(&mut asked.meta.capabilities);
                let Untagged(task_started) = self.modern_round(asked).await?;
                self.task_started(&task_started, TaskDialect::Proposal)
            }
        }
    }

    async fn modern_round<A: for<'de> Answer<'de>>(&self, asked: Round<'_>) -> Result<A, Error> {
        let Round {
            target,
            listeners,
            timeouts,
            ..
        } = asked;
        let id = self.wire.next_id();
        let mut meta = self.meta(asked.meta);
        // PROG-C1: no other request has this id.
        meta.progress_token = listeners.progress.as_ref().map(|_| id.into());
        let request = target.modern(meta, asked.round, asked.task);
        let mut headers = HeaderMap::new();
        if let CallTarget::Tool { name, arguments } = target {
            self.tools.mirror(name, arguments.as_ref(), &mut headers)?;
        }
        let hearing = CallHandler {
            listeners,
            token: id.into(),
            server_requests: None,
        };
        let name = Some(target.name());
        let request = Request::new(id.into(), target.method(), request);
        self.modern(request, name, headers, &hearing, timeouts)
            .await
    }

    async fn legacy_round<A: DeserializeOwned>(
        &self,
        session: &Session,
        asked: &Round<'_>,
    ) -> Result<A, Error> {
        let (target, listeners) = (asked.target, asked.listeners);
        let request = |id| Ok(session_request(asked, id));
        self.send_in_session(session, target.name(), listeners, asked.timeouts, request)
            .await
    }

    fn task_started<T: Reply>(
        &self,
        answer: &RawObject,
        dialect: TaskDialect,
    ) -> Result<Outcome<T, Unfinished>, Error> {
        let task_started = tasks::task_started(answer)?;
        Ok(self.map_task(task_started, |task| task, dialect))
    }

    /// Converts a task that a call has become into the result for the caller.
    fn map_task<T, X>(
        &self,
        outcome: Outcome<T, X>,
        task: impl FnOnce(X) -> Task,
        dialect: TaskDialect,
    ) -> Outcome<T, Unfinished> {
        match outcome {
            Outcome::Complete(result) => Outcome::Complete(result),
            Outcome::InputRequired(required) => Outcome::InputRequired(required),
            Outcome::Extension(created) => {
                let Task { task_id, .. } = task(created);
                let task = TaskHandle::new(self.endpoint(), task_id, dialect);
                Outcome::Extension(Unfinished::Task(task))
            }
        }
    }
}

/// One round, as it is to be sent.
struct Round<'a> {
    target: &'a CallTarget,
    meta: RequestOptions,
    round: (Option<InputResponses>, Option<RequestState>),
    task: Option<TaskMetadata>,
    listeners: &'a Listeners,
    timeouts: Timeouts,
}

/// A call that goes on after its request.
#[derive(Debug)]
pub(super) enum Unfinished {
    /// It waits in its session for answers to these questions.
    Asked(InputRequests, SessionPause),
    /// It goes on as a task.
    Task(TaskHandle),
}

/// The request of a session under an id.
fn session_request(asked: &Round<'_>, id: i64) -> legacy::ClientRequest {
    let mut said = legacy::RequestMeta::default();
    said.extra.clone_from(&asked.meta.extra);
    let trace = TraceContext::take(&mut said.extra);
    said.traceparent = trace.parent;
    said.tracestate = trace.state;
    said.baggage = trace.baggage;
    said.progress_token = asked.listeners.progress.as_ref().map(|_| id.into());
    let silent = said == legacy::RequestMeta::default();
    let meta = (!silent).then_some(said);
    asked.target.legacy(meta, asked.task.clone())
}

/// Outcome of a round in a session that may have paused.
pub(super) fn session_outcome<T>(
    reached: Result<SessionRound<Untagged<T>>, Error>,
) -> Result<Outcome<T, Unfinished>, Error> {
    match reached {
        Ok(SessionRound::Answered(Untagged(result))) => Ok(Outcome::Complete(result)),
        Ok(SessionRound::Asked(questions, pause)) => {
            Ok(Outcome::Extension(Unfinished::Asked(questions, pause)))
        }
        Err(error) => url_elicitations(error).map(Outcome::InputRequired),
    }
}

/// A legacy server that wants the user to visit a URL first: a question like
/// any other, after which the call is made again.
fn url_elicitations(error: Error) -> Result<InputRequired, Error> {
    let found = error.rpc().map(legacy::UrlElicitationRequired::find);
    let Some(Ok(Some(required))) = found else {
        return Err(error);
    };
    let questions: InputRequests = required
        .elicitations
        .into_iter()
        .map(|visit| (visit.elicitation_id, InputRequest::elicit(visit.url)))
        .collect();
    InputRequired::new(questions, None).map_err(|_| error)
}
