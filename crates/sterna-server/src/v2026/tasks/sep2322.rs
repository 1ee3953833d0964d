//! Tasks of SEP-2322, for clients that do not declare the extension: tasks of
//! 2025-11-25 with requests of 2026-07-28. The questions of a task are a
//! result, and their answers are a request.

use sterna_http::auth::Caller;
use sterna_protocol::elicitation::{ElicitAction, ElicitRequestParams, ElicitResult};
use sterna_protocol::input::{InputRequest, InputRequired};
use sterna_protocol::json::RawJson;
use sterna_protocol::legacy::TaskResult;
use sterna_protocol::meta::{RelatedTaskMetadata, ResultMeta};
use sterna_protocol::result::{EmptyResult, Outcome};
use sterna_protocol::sep2322::TaskInputResponseParams;
use sterna_protocol::tool::CallToolResult;
use sterna_store::{Question, Status, Task, TaskId};
use tokio::time::Instant;

use super::{failed, no_such_task, read, task_id};
use crate::core::Core;
use crate::failure::Failure;
use crate::handler::RequestError;
use crate::tasks::tasks_2025_11_25::{self, LegacyTaskResult};
use crate::tasks::{Tasks, questions};

/// `tasks/get`: the status of a task, without its questions.
pub(super) async fn get(tasks: &Tasks, caller: &Caller, id: &str) -> Result<TaskResult, Failure> {
    let task = find(tasks, caller, task_id(id)?).await?;
    Ok(TaskResult::new(tasks_2025_11_25::task(tasks, &task)))
}

/// `tasks/cancel`.
pub(super) async fn cancel(
    tasks: &Tasks,
    caller: &Caller,
    id: &str,
) -> Result<TaskResult, Failure> {
    let task = find(tasks, caller, task_id(id)?).await?;
    let cancelled = tasks_2025_11_25::cancel(tasks, caller, &task)
        .await
        .map_err(failed)?;
    cancelled
        .map(TaskResult::new)
        .ok_or_else(|| Failure::Handler(tasks_2025_11_25::ended()))
}

/// `tasks/result`: the questions of a task while it is `input_required`, its
/// result once it has ended. Waits until there is either.
pub(super) async fn result(
    core: &Core,
    tasks: &Tasks,
    caller: &Caller,
    id: &str,
) -> Result<Outcome<CallToolResult>, Failure> {
    let id = task_id(id)?;
    let mut watch = tasks.queue.watch([id]);
    loop {
        let looked_at = Instant::now();
        let task = find(tasks, caller, id).await?;
        match tasks_2025_11_25::end(&task) {
            Some(LegacyTaskResult::Result(result)) => return Ok(Outcome::Complete(*result)),
            Some(LegacyTaskResult::Error(error)) => {
                return Err(Failure::Handler(RequestError::of(error)));
            }
            None => {}
        }
        if task.summary.status == Status::InputRequired
            && let Ok(mut asked) = InputRequired::new(questions(&task), None)
        {
            asked.meta = Some(related(core, id));
            return Ok(Outcome::InputRequired(asked));
        }
        tasks.pause(looked_at, &mut watch).await;
    }
}

/// `tasks/input_response`: answers to questions of a task. Answers that do not
/// fit are ignored, so that the task stays at `input_required` and asks again.
pub(super) async fn input_response(
    core: &Core,
    tasks: &Tasks,
    caller: &Caller,
    params: &TaskInputResponseParams,
) -> Result<EmptyResult, Failure> {
    let related_task = params.related_task().ok_or_else(|| {
        Failure::params(
            "`_meta`: missing field `io.modelcontextprotocol/related-task`, \
             an object with the `taskId`",
        )
    })?;
    let id = task_id(&related_task.task_id)?;
    let task = find(tasks, caller, id).await?;
    let answers = read(&params.input_responses, |key, answer| {
        let mut questions = task.questions.iter();
        let asked = questions.find(|question| question.key.as_str() == key);
        asked.is_some_and(|asked| fits(asked, answer))
    })?;
    if !answers.is_empty() {
        tasks.answer(caller, id, answers).await.map_err(failed)?;
    }
    let mut acknowledged = EmptyResult::default();
    acknowledged.meta = Some(related(core, id));
    Ok(acknowledged)
}

async fn find(tasks: &Tasks, caller: &Caller, id: TaskId) -> Result<Task, Failure> {
    let found = tasks.find(caller, id).await.map_err(failed)?;
    found.ok_or_else(no_such_task)
}

/// Returns `true` if `answer` satisfies the form of `question`. Answers to
/// other questions are checked by the handler.
fn fits(question: &Question, answer: &RawJson) -> bool {
    let Ok(InputRequest::Elicit(asked)) = serde_json::from_slice(&question.request) else {
        return true;
    };
    let ElicitRequestParams::Form(form) = asked.params else {
        return true;
    };
    match answer.decode::<ElicitResult>() {
        Ok(answer) if answer.action == ElicitAction::Accept => {
            let content = answer.content.unwrap_or_default();
            form.requested_schema.check(content).is_ok()
        }
        answer => answer.is_ok(),
    }
}

/// `_meta` of a result that belongs to a task.
fn related(core: &Core, task: TaskId) -> ResultMeta {
    let mut meta = core.result_meta();
    meta.related_task = Some(RelatedTaskMetadata::new(task.to_string()));
    meta
}
