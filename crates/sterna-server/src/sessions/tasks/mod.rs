//! Tasks of 2025-11-25: a caller asks for one with its call, polls it, and waits
//! for its result. The engine is that of every dialect.

mod answer;
mod begin;
mod list;
mod wait;

use std::sync::Arc;

use sterna_protocol::legacy::TaskResult;
use sterna_protocol::version::ProtocolVersion;
use sterna_store::{Task, TaskId};

pub(super) use answer::{TaskQuestion, answer};
pub(super) use begin::{begin, decide};
pub(super) use list::{has_name, list};
pub(super) use wait::wait;

use super::dispatch::Post;
use super::session::Session;
use crate::core::Core;
use crate::failure::Failure;
use crate::tasks::{Tasks, store_failed, tasks_2025_11_25, unknown};

/// Returns `true` if the revision of the session has tasks and the server runs
/// some.
pub(super) fn has_tasks(core: &Core, session: &Session) -> bool {
    session.version == ProtocolVersion::V2025_11_25 && core.runs_tasks()
}

/// `tasks/get`.
pub(super) async fn get(post: &Post, id: &str) -> Result<TaskResult, Failure> {
    let (tasks, task) = find(post, id).await?;
    Ok(TaskResult::new(tasks_2025_11_25::task(tasks, &task)))
}

/// `tasks/cancel`.
pub(super) async fn cancel(post: &Post, id: &str) -> Result<TaskResult, Failure> {
    let (tasks, task) = find(post, id).await?;
    let cancelled = tasks_2025_11_25::cancel(tasks, post.admission.caller(), &task).await;
    let cancelled = cancelled.map_err(|error| store_failed(&error))?;
    cancelled
        .map(TaskResult::new)
        .ok_or_else(|| Failure::Handler(tasks_2025_11_25::ended()))
}

/// The caller's task of that id, and where it is kept.
async fn find<'a>(post: &'a Post, id: &str) -> Result<(&'a Arc<Tasks>, Task), Failure> {
    let (tasks, id) = known(post, id)?;
    Ok((tasks, read(post, tasks, id).await?))
}

/// The tasks of the server, and `id` as one of them.
fn known<'a>(post: &'a Post, id: &str) -> Result<(&'a Arc<Tasks>, TaskId), Failure> {
    let tasks = post.core.tasks.as_ref().ok_or_else(nothing)?;
    Ok((tasks, id.parse().map_err(|_| nothing())?))
}

async fn read(post: &Post, tasks: &Tasks, id: TaskId) -> Result<Task, Failure> {
    let found = tasks.find(post.admission.caller(), id).await;
    found
        .map_err(|error| store_failed(&error))?
        .ok_or_else(nothing)
}

fn nothing() -> Failure {
    Failure::Handler(unknown())
}
