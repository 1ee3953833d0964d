//! The requests of 2025-11-25, made in a session, and of SEP-2322, which stand
//! alone.

use std::sync::Arc;

use http::HeaderMap;
use serde::de::DeserializeOwned;
use sterna_protocol::http::name_member;
use sterna_protocol::input::{InputRequests, InputResponses};
use sterna_protocol::json::{JsonObject, RawJson, RawObject};
use sterna_protocol::jsonrpc::{Request, Untagged};
use sterna_protocol::legacy::{self, CancelTask, GetTask, GetTaskPayload, TaskResult};
use sterna_protocol::meta::RelatedTaskMetadata;
use sterna_protocol::methods::RequestMethod as _;
use sterna_protocol::result::{EmptyResult, Outcome};
use sterna_protocol::sep2322::InputResponse;
use sterna_protocol::tasks::{DetailedTask, Task, TaskState, TaskStatus};
use sterna_protocol::tool::CallToolResult;

use super::dialect::undeclare;
use super::{TaskDialect, TaskHandle};
use crate::core::{Core, Protocol, SessionRequest};
use crate::error::{Error, Fault};
use crate::notifications::Listeners;
use crate::session::{RELATED_TASK, Session};
use crate::wire::IgnoreAll;

/// A task that is not one of the extension.
pub(super) struct LegacyTask<'a> {
    pub(super) core: &'a Core,
    pub(super) task_id: &'a str,
    /// The session it is asked about in; none for SEP-2322.
    pub(super) session: Option<&'a Session>,
}

impl<'a> LegacyTask<'a> {
    /// The task of `handle`, unless it is one of the extension.
    pub(super) fn of(core: &'a Core, handle: &'a TaskHandle) -> Option<Self> {
        let session = match (&core.protocol, handle.dialect()) {
            (Protocol::Legacy(session), _) => Some(&**session),
            (Protocol::Modern, TaskDialect::Proposal) => None,
            (Protocol::Modern, TaskDialect::Extension) => return None,
        };
        Some(Self {
            core,
            task_id: handle.task_id(),
            session,
        })
    }

    /// Fetches the status of the task, without its result and its questions.
    pub(super) async fn look(&self) -> Result<Task, Error> {
        let TaskResult { task, .. } = done(&self.ask_about(GetTask::METHOD).await?)?;
        match task.task_id == self.task_id {
            true => Ok(translated(task)),
            false => Err(Fault::Broken("another task").into()),
        }
    }

    /// Fetches the state of the task. In a session it has no questions: the
    /// server sends those to the client that waits for the result.
    pub(super) async fn show(&self) -> Result<DetailedTask, Error> {
        let task = self.look().await?;
        let state = match &task.status {
            TaskStatus::Cancelled => TaskState::Cancelled,
            TaskStatus::Completed | TaskStatus::Failed => {
                match self.ask_about(GetTaskPayload::METHOD).await {
                    Ok(result) => TaskState::Completed(result),
                    Err(error) => match error.rpc() {
                        Some(refusal) => TaskState::Failed(refusal.clone()),
                        None => return Err(error),
                    },
                }
            }
            TaskStatus::InputRequired if self.session.is_some() => {
                TaskState::InputRequired(InputRequests::new())
            }
            TaskStatus::InputRequired => match self.result().await? {
                Outcome::InputRequired(asked) => TaskState::InputRequired(asked.into_parts().0),
                // It went on in the meantime.
                _ => TaskState::Working,
            },
            TaskStatus::Other(name) => TaskState::Other(name.clone()),
            _ => TaskState::Working,
        };
        Ok(DetailedTask::new(task, state))
    }

    /// Waits for what came of the task, or for what it asks. In a session it is
    /// asked while this waits.
    pub(super) async fn result(&self) -> Result<Outcome<CallToolResult>, Error> {
        read(&self.ask_about(GetTaskPayload::METHOD).await?)
    }

    /// Answers what the task asks, where that takes a request.
    pub(super) async fn respond(&self, answers: &InputResponses) -> Result<(), Error> {
        let related = RelatedTaskMetadata::new(self.task_id);
        let meta = JsonObject::from_iter([(RELATED_TASK, json(&related)?)]);
        let params = JsonObject::from_iter([("inputResponses", json(answers)?)]);
        let EmptyResult { .. } = done(&self.ask(InputResponse::METHOD, params, meta).await?)?;
        Ok(())
    }

    pub(super) async fn cancel(&self) -> Result<(), Error> {
        let TaskResult { .. } = done(&self.ask_about(CancelTask::METHOD).await?)?;
        Ok(())
    }

    async fn ask_about(&self, method: &'static str) -> Result<RawObject, Error> {
        let params = JsonObject::from_iter([("taskId", json(self.task_id)?)]);
        self.ask(method, params, JsonObject::new()).await
    }

    async fn ask(
        &self,
        method: &'static str,
        mut params: JsonObject,
        extra: JsonObject,
    ) -> Result<RawObject, Error> {
        let (core, timeouts) = (self.core, self.core.timeouts());
        if let Some(session) = self.session {
            if !extra.is_empty() {
                params.insert("_meta", json(&extra)?);
            }
            let deaf = Listeners::default();
            let request = |_| {
                Ok(SessionRequest {
                    method,
                    params: params.clone(),
                    becomes_task: false,
                })
            };
            let asked = core.request_in_session(session, self.task_id, &deaf, timeouts, request);
            return asked.await;
        }
        let mut meta = core.plain_meta();
        undeclare(Arc::make_mut(&mut meta.client_capabilities));
        meta.extra = extra;
        params.insert("_meta", json(&meta)?);
        let request = Request::new(core.wire.next_id().into(), method, params);
        let name = Some(self.task_id).filter(|_| name_member(method).is_some());
        let asked = core.modern(request, name, HeaderMap::new(), &IgnoreAll, timeouts);
        let Untagged(result) = asked.await?;
        Ok(result)
    }
}

/// Decodes the response to a call that was to become a task: that task, or the
/// result of an ordinary call.
pub(crate) fn task_started<T: DeserializeOwned>(
    answer: &RawObject,
) -> Result<Outcome<T, Task>, Error> {
    let members: JsonObject = answer.decode().map_err(|_| UNREADABLE)?;
    if let (Some(task), None) = (members.get("task"), members.get("content")) {
        let task: legacy::Task = task.decode().map_err(|_| UNREADABLE)?;
        return Ok(Outcome::Extension(translated(task)));
    }
    Ok(match read(answer)? {
        Outcome::Complete(result) => Outcome::Complete(result),
        Outcome::InputRequired(asked) => Outcome::InputRequired(asked),
        Outcome::Extension(never) => match never {},
    })
}

/// A task in the words of the extension.
pub(crate) fn translated(task: legacy::Task) -> Task {
    let mut said = Task::new(task.task_id, task.created_at);
    said.status = task.status;
    said.last_updated_at = task.last_updated_at;
    said.ttl_ms = task.ttl;
    said.poll_interval_ms = task.poll_interval;
    said.status_message = task.status_message;
    said
}

fn read<T: DeserializeOwned>(answer: &RawObject) -> Result<Outcome<T>, Error> {
    Outcome::decode(answer.as_str()).map_err(|_| UNREADABLE.into())
}

fn done<T: DeserializeOwned>(answer: &RawObject) -> Result<T, Error> {
    match read(answer)? {
        Outcome::Complete(result) => Ok(result),
        _ => Err(UNREADABLE.into()),
    }
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> Result<RawJson, Error> {
    RawJson::of(value).map_err(|error| Fault::Arguments(Some(error)).into())
}

const UNREADABLE: Fault = Fault::Broken("a task that cannot be read");
