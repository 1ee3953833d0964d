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

use super::trace::Trace;
use super::{Core, Meta, Spoken};
use crate::call::{Hearing, Listeners, Reply, Subject};
use crate::error::Error;
use crate::session::Session;
use crate::tasks::{self, Dialect, TaskHandle};
use crate::wire::Patience;

impl Core {
    /// Sends one round of a call.
    pub(crate) async fn call<T: Reply>(
        &self,
        subject: &Subject,
        meta: Meta,
        round: (Option<InputResponses>, Option<RequestState>),
        listeners: &Listeners,
        patience: Patience,
    ) -> Result<Outcome<T, TaskHandle>, Error> {
        let task = match subject {
            Subject::Tool { name, .. } => {
                tasks::wanted(self, name, &meta.capabilities, meta.task.as_ref())
            }
            Subject::Prompt { .. } | Subject::Resource { .. } => None,
        };
        let mut asked = Asked {
            subject,
            meta,
            round,
            task,
            listeners,
            patience,
        };
        match (&self.spoken, asked.task.is_some()) {
            (Spoken::Legacy(session), false) => match self.legacy_round(session, &asked).await {
                Ok(result) => Ok(Outcome::Complete(result)),
                Err(error) => visits(error).map(Outcome::InputRequired),
            },
            (Spoken::Legacy(session), true) => match self.legacy_round(session, &asked).await {
                Ok(begun) => self.begun(&begun, Dialect::Extension),
                Err(error) => visits(error).map(Outcome::InputRequired),
            },
            (Spoken::Modern, false) => {
                let sent = self
                    .modern_round::<Outcome<T, CreateTaskResult>>(asked)
                    .await?;
                Ok(self.handed(sent, |created| created.task, Dialect::Extension))
            }
            (Spoken::Modern, true) => {
                tasks::undeclare(&mut asked.meta.capabilities);
                let Untagged(begun) = self.modern_round(asked).await?;
                self.begun(&begun, Dialect::Proposal)
            }
        }
    }

    async fn modern_round<A: for<'de> Answer<'de>>(&self, asked: Asked<'_>) -> Result<A, Error> {
        let Asked {
            subject,
            listeners,
            patience,
            ..
        } = asked;
        let id = self.wire.next_id();
        let mut meta = self.meta(asked.meta);
        // PROG-C1: no other request has this id.
        meta.progress_token = listeners.progress.as_ref().map(|_| id.into());
        let request = subject.modern(meta, asked.round, asked.task);
        let mut headers = HeaderMap::new();
        if let Subject::Tool { name, arguments } = subject {
            self.tools.mirror(name, arguments.as_ref(), &mut headers)?;
        }
        let hearing = Hearing {
            listeners,
            token: id.into(),
            servant: None,
        };
        let name = Some(subject.name());
        let request = Request::new(id.into(), subject.method(), request);
        self.modern(request, name, headers, &hearing, patience)
            .await
    }

    async fn legacy_round<A: DeserializeOwned>(
        &self,
        session: &Session,
        asked: &Asked<'_>,
    ) -> Result<A, Error> {
        let (subject, listeners) = (asked.subject, asked.listeners);
        let request = |id: i64| {
            let mut said = legacy::RequestMeta::default();
            said.extra.clone_from(&asked.meta.extra);
            let trace = Trace::take(&mut said.extra);
            said.traceparent = trace.parent;
            said.tracestate = trace.state;
            said.baggage = trace.baggage;
            said.progress_token = listeners.progress.as_ref().map(|_| id.into());
            let silent = said == legacy::RequestMeta::default();
            Ok(subject.legacy((!silent).then_some(said), asked.task.clone()))
        };
        self.in_session(session, subject.name(), listeners, asked.patience, request)
            .await
    }

    fn begun<T: Reply>(
        &self,
        answer: &RawObject,
        dialect: Dialect,
    ) -> Result<Outcome<T, TaskHandle>, Error> {
        let begun = tasks::begun(answer)?;
        Ok(self.handed(begun, |task| task, dialect))
    }

    /// Turns a task that a call has become into what the caller gets of it.
    fn handed<T, X>(
        &self,
        outcome: Outcome<T, X>,
        task: impl FnOnce(X) -> Task,
        dialect: Dialect,
    ) -> Outcome<T, TaskHandle> {
        match outcome {
            Outcome::Complete(result) => Outcome::Complete(result),
            Outcome::InputRequired(required) => Outcome::InputRequired(required),
            Outcome::Extension(created) => {
                let Task { task_id, .. } = task(created);
                Outcome::Extension(TaskHandle::new(self.place(), task_id, dialect))
            }
        }
    }
}

/// One round, as it is to be sent.
struct Asked<'a> {
    subject: &'a Subject,
    meta: Meta,
    round: (Option<InputResponses>, Option<RequestState>),
    task: Option<TaskMetadata>,
    listeners: &'a Listeners,
    patience: Patience,
}

/// A legacy server that wants the user to visit a URL first: a question like
/// any other, after which the call is made again.
fn visits(error: Error) -> Result<InputRequired, Error> {
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
