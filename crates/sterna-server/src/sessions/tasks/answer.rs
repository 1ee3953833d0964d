//! Answers to the questions of a task.

use bytes::Bytes;
use sterna_http::auth::Caller;
use sterna_protocol::input::InputRequest;
use sterna_protocol::jsonrpc::RequestId;
use sterna_store::{Answer, Error, Name, TaskId};

use crate::cx::CANNOT_ASK;
use crate::session_table::ClientAnswer;
use crate::tasks::Tasks;

/// A question of a task, named by the id of the request that asks it.
///
/// The id holds the whole name, so that the answer counts at any instance, also
/// when no request waits for the task.
pub(in crate::sessions) struct TaskQuestion {
    pub(super) task: TaskId,
    pub(super) key: Name,
}

impl TaskQuestion {
    pub(super) fn id(&self) -> RequestId {
        RequestId::from(format!("{}.{}", self.task, self.key.as_str()))
    }

    /// The question that `id` asks; `None` if it asks none of a task.
    pub(in crate::sessions) fn of(id: &RequestId) -> Option<Self> {
        let text = id.to_string();
        let (task, key) = text.split_once('.')?;
        Some(Self {
            task: task.parse().ok()?,
            key: Name::new(key).ok()?,
        })
    }
}

/// Brings an answer to the task, if the task is the caller's.
pub(in crate::sessions) async fn answer(
    tasks: &Tasks,
    caller: &Caller,
    question: TaskQuestion,
    answered: ClientAnswer,
) -> Result<(), Error> {
    let TaskQuestion { task, key } = question;
    let response = match answered {
        // An object: no other message is taken for an answer.
        Ok(text) => Bytes::from(text),
        Err(_) => match refusal(tasks, caller, task, &key).await? {
            Some(refusal) => refusal,
            None => return Ok(()),
        },
    };
    let answers = vec![Answer::new(key, response)];
    tasks.answer(caller, task, answers).await.map(drop)
}

/// Answer of a client that refused the question.
async fn refusal(
    tasks: &Tasks,
    caller: &Caller,
    task: TaskId,
    key: &Name,
) -> Result<Option<Bytes>, Error> {
    let found = tasks.find(caller, task).await?;
    let asked = found.and_then(|task| {
        let mut questions = task.questions.into_iter();
        questions.find(|question| question.key == *key)
    });
    Ok(asked.map(|question| {
        match serde_json::from_slice::<InputRequest>(&question.request) {
            // One that could not show the form is as a user who went away.
            Ok(InputRequest::Elicit(_)) => Bytes::from_static(br#"{"action":"cancel"}"#),
            _ => Bytes::from_static(CANNOT_ASK),
        }
    }))
}
