//! The extension `io.modelcontextprotocol/tasks`: its three methods, and those
//! of SEP-2322 beside them.

use sterna_protocol::capabilities::ExtensionId;
use sterna_protocol::input::InputResponses;
use sterna_protocol::json::RawJson;
use sterna_protocol::result::EmptyResult;
use sterna_protocol::tasks::{GetTaskResult, TaskRequestParams, UpdateTaskRequestParams};
use sterna_store::{Answer, Name, TaskId};

use super::{Tasks, sep2322};
use crate::call::Request;
use crate::handler::RequestError;
use crate::offer::Extension;
use crate::wording;

/// The extension, for a server that has a store (TASK-S21).
pub(crate) fn extension() -> Extension {
    Extension::new(ExtensionId::TASKS.as_str())
        .declared_only()
        .method("tasks/get", get)
        .method("tasks/update", update)
        .method("tasks/cancel", cancel)
}

/// As [`extension`], of a server that speaks to clients too that declare
/// nothing and do as SEP-2322 says.
pub(crate) fn with_sep2322() -> Extension {
    extension()
        .undeclared_method("tasks/get", sep2322::get)
        .undeclared_method("tasks/cancel", sep2322::cancel)
        .undeclared_method("tasks/result", sep2322::result)
        .undeclared_method("tasks/input_response", sep2322::input_response)
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
    let answers = read(&params.input_responses, |_, _| true)?;
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

/// The answers that count, for a store.
pub(super) fn read(
    responses: &InputResponses,
    counts: impl Fn(&str, &RawJson) -> bool,
) -> Result<Vec<Answer>, RequestError> {
    let mut answers = Vec::new();
    for (key, answer) in responses.iter() {
        if !answer.is_object() {
            return Err(RequestError::invalid_params(format!(
                "Invalid params: {} in `inputResponses` must be an object",
                wording::name(key)
            )));
        }
        // A key that is no name was never asked.
        if let Ok(name) = Name::new(key)
            && counts(key, answer)
        {
            let response = answer.as_str().as_bytes().to_vec();
            answers.push(Answer::new(name, response.into()));
        }
    }
    Ok(answers)
}

pub(super) fn find<'a>(
    request: &'a Request,
    id: &str,
) -> Result<(&'a Tasks, TaskId), RequestError> {
    let tasks = request.tasks().ok_or_else(unknown)?;
    Ok((tasks, id.parse().map_err(|_| unknown())?))
}

/// One text, whatever the reason (TASK-S20, TASK-S22).
pub(crate) fn unknown() -> RequestError {
    RequestError::invalid_params("Unknown task")
}
