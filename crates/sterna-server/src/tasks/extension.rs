//! The extension `io.modelcontextprotocol/tasks`: its three methods.

use sterna_protocol::capabilities::ExtensionId;
use sterna_protocol::result::EmptyResult;
use sterna_protocol::tasks::{GetTaskResult, TaskRequestParams, UpdateTaskRequestParams};
use sterna_store::{Answer, Name, TaskId};

use super::Tasks;
use crate::call::Request;
use crate::handler::RequestError;
use crate::offer::Extension;

/// The extension, for a server that has a store (TASK-S21).
pub(crate) fn extension() -> Extension {
    Extension::new(ExtensionId::TASKS.as_str())
        .declared_only()
        .method("tasks/get", get)
        .method("tasks/update", update)
        .method("tasks/cancel", cancel)
}

async fn get(request: Request, params: TaskRequestParams) -> Result<GetTaskResult, RequestError> {
    let (tasks, id) = find(&request, &params.task_id)?;
    let found = tasks.find(request.caller(), id).await?;
    let task = found.ok_or_else(unknown)?;
    Ok(GetTaskResult::new(tasks.detailed(&task)))
}

async fn update(
    request: Request,
    params: UpdateTaskRequestParams,
) -> Result<EmptyResult, RequestError> {
    let (tasks, id) = find(&request, &params.task_id)?;
    let mut answers = Vec::new();
    for (key, answer) in params.input_responses.iter() {
        if !answer.is_object() {
            return Err(RequestError::invalid_params(
                "Invalid params: inputResponses",
            ));
        }
        // A key that is no name was never asked.
        if let Ok(key) = Name::new(key) {
            let response = answer.as_str().as_bytes().to_vec();
            answers.push(Answer::new(key, response.into()));
        }
    }
    let answered = tasks.answer(request.caller(), id, answers).await?;
    answered.ok_or_else(unknown)?;
    Ok(EmptyResult::default())
}

async fn cancel(request: Request, params: TaskRequestParams) -> Result<EmptyResult, RequestError> {
    let (tasks, id) = find(&request, &params.task_id)?;
    let cancelled = tasks.cancel(request.caller(), id).await?;
    cancelled.ok_or_else(unknown)?;
    Ok(EmptyResult::default())
}

fn find<'a>(request: &'a Request, id: &str) -> Result<(&'a Tasks, TaskId), RequestError> {
    let tasks = request.tasks().ok_or_else(unknown)?;
    Ok((tasks, id.parse().map_err(|_| unknown())?))
}

/// One text, whatever the reason (TASK-S20, TASK-S22).
pub(crate) fn unknown() -> RequestError {
    RequestError::invalid_params("Unknown task")
}
