//! Requests about tasks: the methods of the extension
//! `io.modelcontextprotocol/tasks`, and those of SEP-2322 beside them.

mod sep2322;

use std::pin::pin;
use std::sync::Arc;

use serde::Serialize;
use sterna_http::auth::Caller;
use sterna_http::{Inbound, catch_panic};
use sterna_protocol::capabilities::{ClientCapabilities, ExtensionId};
use sterna_protocol::input::InputResponses;
use sterna_protocol::json::RawJson;
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::meta::RequestMeta;
use sterna_protocol::methods::Or;
use sterna_protocol::result::{Complete, EmptyResult};
use sterna_protocol::sep2322::ClientRequest as ProposalRequest;
use sterna_protocol::tasks::{
    ClientRequest as ExtensionRequest, GetTaskResult, UpdateTaskRequestParams,
};
use sterna_protocol::version::ProtocolVersion;
use sterna_store::{Answer as StoredAnswer, Name, TaskId};

use crate::core::Core;
use crate::failure::Failure;
use crate::handler::RequestError;
use crate::reply::RequestSpan;
use crate::reply::{Answer, Reply, refuse};
use crate::task_mode::TaskDialect;
use crate::tasks::{Tasks, unknown};
use crate::wording;

/// Request about a task, in either dialect.
pub(super) type AnyTaskRequest = Or<ExtensionRequest, ProposalRequest>;

/// Method of a request about a task.
pub(super) fn method(request: &AnyTaskRequest) -> &'static str {
    match request {
        Or::First(request) => request.method().as_str(),
        Or::Second(request) => request.method().as_str(),
    }
}

/// `_meta` of a request about a task.
///
/// # Errors
///
/// The protocol crate knows the method and this server does not.
pub(super) fn meta(request: &AnyTaskRequest) -> Result<&RequestMeta, Failure> {
    Ok(match request {
        Or::First(ExtensionRequest::CancelTask(params) | ExtensionRequest::GetTask(params)) => {
            &params.meta
        }
        Or::First(ExtensionRequest::UpdateTask(params)) => &params.meta,
        Or::Second(ProposalRequest::GetTaskPayload(params)) => &params.meta,
        Or::Second(ProposalRequest::InputResponse(params)) => &params.meta,
        other => return Err(Failure::UnknownMethod(method(other).to_owned())),
    })
}

/// Task id that the `Mcp-Name` header repeats; SEP-2322 mirrors none.
pub(super) fn mirrored_id(request: &AnyTaskRequest) -> Option<&str> {
    match request {
        Or::First(ExtensionRequest::CancelTask(params) | ExtensionRequest::GetTask(params)) => {
            Some(&params.task_id)
        }
        Or::First(ExtensionRequest::UpdateTask(params)) => Some(&params.task_id),
        _ => None,
    }
}

/// Chooses the dialect of `method` for a client with `capabilities`.
///
/// # Errors
///
/// The server does not offer the method, or only to clients that declare the
/// extension.
pub(super) fn dialect(
    core: &Core,
    method: &str,
    capabilities: &ClientCapabilities,
) -> Result<TaskDialect, Failure> {
    let declared = capabilities.has_extension(ExtensionId::TASKS.as_str());
    let of_proposal = matches!(method, "tasks/input_response" | "tasks/result");
    let in_both = matches!(method, "tasks/cancel" | "tasks/get");
    if !core.runs_tasks() || of_proposal && (declared || !core.sep2322_tasks) {
        return Err(Failure::UnknownMethod(method.to_owned()));
    }
    if declared {
        return Ok(TaskDialect::Extension);
    }
    if of_proposal || in_both && core.sep2322_tasks {
        return Ok(TaskDialect::Proposal);
    }
    let needed = ClientCapabilities::default().with_extension(&ExtensionId::TASKS);
    Err(Failure::Capability(Box::new(needed)))
}

/// Methods that a server with tasks serves by itself.
pub(crate) fn served_methods(sep2322_tasks: bool) -> impl Iterator<Item = &'static str> {
    let extension = ["tasks/cancel", "tasks/get", "tasks/update"];
    let proposal = ["tasks/input_response", "tasks/result"];
    let proposal = proposal.into_iter().filter(move |_| sep2322_tasks);
    extension.into_iter().chain(proposal)
}

/// Answers a request about a task that has been admitted.
pub(super) fn serve(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    request: AnyTaskRequest,
    dialect: TaskDialect,
) -> Reply {
    let method = method(&request);
    if let Err(refusal) = inbound.admission.may(method, None) {
        return Reply::Ready(refuse(refusal));
    }
    let version = ProtocolVersion::V2026_07_28;
    let mut operation = RequestSpan::begin(&core, &inbound.admission, method, None, &id, &version);
    Reply::pending(async move {
        let answering = pin!(async {
            let work = pin!(answer(&core, &inbound, &id, &request, dialect));
            let work = tokio::time::timeout_at(inbound.deadline.into(), catch_panic(work));
            let answer = match work.await {
                Ok(Ok(Ok(answer))) => answer,
                Ok(Ok(Err(failure))) => Answer::failed(Some(&id), &failure),
                Ok(Err(_)) => {
                    tracing::error!(target: "sterna::tasks", method, "a store panicked");
                    Answer::failed(Some(&id), &Failure::Internal)
                }
                Err(_) => Answer::failed(Some(&id), &Failure::TimedOut),
            };
            let ended = answer.ended();
            (answer, Some(ended))
        });
        operation.instrument(answering).await.plain(inbound.accepts)
    })
}

async fn answer(
    core: &Core,
    inbound: &Inbound,
    id: &RequestId,
    request: &AnyTaskRequest,
    dialect: TaskDialect,
) -> Result<Answer, Failure> {
    let caller = inbound.admission.caller();
    let not_served = || Failure::UnknownMethod(method(request).to_owned());
    let tasks = core.tasks.as_ref().ok_or_else(not_served)?;
    let answered = match (request, dialect) {
        (Or::First(ExtensionRequest::GetTask(params)), TaskDialect::Extension) => {
            let mut result = get(tasks, caller, &params.task_id).await?;
            result.meta = Some(core.result_meta());
            complete(id, result)
        }
        (Or::First(ExtensionRequest::CancelTask(params)), TaskDialect::Extension) => {
            let task = task_id(&params.task_id)?;
            let cancelled = tasks.cancel(caller, task).await.map_err(failed)?;
            cancelled.ok_or_else(no_such_task)?;
            acknowledge(core, id)
        }
        (Or::First(ExtensionRequest::UpdateTask(params)), _) => {
            update(tasks, caller, params).await?;
            acknowledge(core, id)
        }
        (Or::First(ExtensionRequest::GetTask(params)), TaskDialect::Proposal) => {
            let mut result = sep2322::get(tasks, caller, &params.task_id).await?;
            result.meta = Some(core.result_meta());
            complete(id, result)
        }
        (Or::First(ExtensionRequest::CancelTask(params)), TaskDialect::Proposal) => {
            let mut result = sep2322::cancel(tasks, caller, &params.task_id).await?;
            result.meta = Some(core.result_meta());
            complete(id, result)
        }
        (Or::Second(ProposalRequest::GetTaskPayload(params)), _) => {
            let outcome = sep2322::result(core, tasks, caller, &params.task_id).await?;
            Answer::done(id.clone(), &outcome)
        }
        (Or::Second(ProposalRequest::InputResponse(params)), _) => {
            let result = sep2322::input_response(core, tasks, caller, params).await?;
            complete(id, result)
        }
        _ => return Err(not_served()),
    };
    Ok(answered)
}

/// Answer with `result`, marked as complete (BASE-S3).
fn complete(id: &RequestId, result: impl Serialize) -> Answer {
    Answer::done(id.clone(), &Complete(result))
}

fn acknowledge(core: &Core, id: &RequestId) -> Answer {
    let mut result = EmptyResult::default();
    result.meta = Some(core.result_meta());
    complete(id, result)
}

async fn get(tasks: &Tasks, caller: &Caller, id: &str) -> Result<GetTaskResult, Failure> {
    let found = tasks.find(caller, task_id(id)?).await.map_err(failed)?;
    let task = found.ok_or_else(no_such_task)?;
    Ok(GetTaskResult::new(tasks.detailed(&task)))
}

async fn update(
    tasks: &Tasks,
    caller: &Caller,
    params: &UpdateTaskRequestParams,
) -> Result<(), Failure> {
    let id = task_id(&params.task_id)?;
    let answers = read(&params.input_responses, |_, _| true)?;
    let answered = tasks.answer(caller, id, answers).await.map_err(failed)?;
    answered.map(drop).ok_or_else(no_such_task)
}

/// Converts those answers of `responses` that `counts` accepts for the store.
///
/// # Errors
///
/// An answer is not an object.
fn read(
    responses: &InputResponses,
    counts: impl Fn(&str, &RawJson) -> bool,
) -> Result<Vec<StoredAnswer>, Failure> {
    let mut answers = Vec::new();
    for (key, answer) in responses.iter() {
        if !answer.is_object() {
            return Err(Failure::Handler(RequestError::invalid_params(format!(
                "Invalid params: {} in `inputResponses` must be an object",
                wording::name(key)
            ))));
        }
        // A key that is no name was never asked.
        if let Ok(name) = Name::new(key)
            && counts(key, answer)
        {
            let response = answer.as_str().as_bytes().to_vec();
            answers.push(StoredAnswer::new(name, response.into()));
        }
    }
    Ok(answers)
}

/// An id that cannot be read is as unknown as a task of another caller.
fn task_id(id: &str) -> Result<TaskId, Failure> {
    id.parse().map_err(|_| no_such_task())
}

fn no_such_task() -> Failure {
    Failure::Handler(unknown())
}

/// Failure of the store: logged here, internal for the client.
fn failed(error: sterna_store::Error) -> Failure {
    Failure::Handler(RequestError::from(error))
}
