//! A call that asks to be a task.

use std::time::Duration;

use sterna_protocol::legacy::{CreateTaskResult, RequestMeta, TaskMetadata};
use sterna_protocol::tool::CallToolResult;
use sterna_protocol::version::ProtocolVersion;

use super::has_tasks;
use crate::core::Core;
use crate::failure::{Failure, Kind};
use crate::handler::RequestError;
use crate::rounds::Wanted;
use crate::sessions::dispatch::Post;
use crate::task_mode::TaskMode;
use crate::tasks::{NewTaskRequest, tasks_2025_11_25};

/// Returns the task that a call of `tool` asks for; `None` if it runs without
/// one.
///
/// # Errors
///
/// It asks for one and may not, or it does not and must.
pub(in crate::sessions) fn decide(
    core: &Core,
    post: &Post,
    tool: &str,
    task: Option<TaskMetadata>,
) -> Result<Option<TaskMetadata>, Failure> {
    let Some(entry) = core.offers.tools.get(tool) else {
        return Ok(None);
    };
    let (mode, session) = (entry.task.mode, &post.session);
    if session.version < ProtocolVersion::V2025_11_25 {
        // What is not in the list is not there.
        return match mode {
            TaskMode::Always => Err(Failure::unknown(
                Kind::Tool,
                tool.to_owned(),
                [].into_iter(),
            )),
            TaskMode::Never | TaskMode::Optional => Ok(None),
        };
    }
    match (mode, task) {
        (TaskMode::Always, None) => Err(Failure::AsTask(
            "The tool runs as a task only; call it with `task`",
        )),
        (TaskMode::Never, Some(_)) if has_tasks(core, session) => Err(Failure::AsTask(
            "The tool does not run as a task; call it without `task`",
        )),
        // A server that has declared no tasks does not see that it was asked for one.
        (TaskMode::Never, _) => Ok(None),
        (_, task) => Ok(task),
    }
}

/// Creates the task, and answers when it is durable.
pub(in crate::sessions) async fn begin(
    post: &Post,
    wanted: Result<Wanted<CallToolResult>, Failure>,
    task: TaskMetadata,
    sent: Option<RequestMeta>,
) -> Result<CreateTaskResult, Failure> {
    let mut wanted = wanted.map_err(|failure| match failure {
        // A client that asked for a task does not expect the result of a tool.
        Failure::Tool(text) => Failure::Handler(RequestError::invalid_params(text)),
        failure => failure,
    })?;
    let tasks = post
        .core
        .tasks
        .as_ref()
        .ok_or_else(|| Failure::UnknownMethod("tools/call".to_owned()))?;
    let arguments = wanted.take_tree();
    let opening = NewTaskRequest {
        caller: post.admission.caller(),
        meta: post.session.meta(sent),
        tool: &wanted.target.name,
        arguments,
        tool_ttl: post.core.task_ttl(&wanted.target.name),
        ttl: task.ttl.map(Duration::from_millis),
        begun: None,
    };
    let summary = tasks.open(opening).await?;
    Ok(CreateTaskResult::new(tasks_2025_11_25::head(
        tasks, &summary,
    )))
}
