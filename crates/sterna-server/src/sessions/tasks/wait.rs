//! `tasks/result`: waiting for what comes of a task, and being asked meanwhile.

use std::collections::HashSet;

use sterna_http::clock;
use sterna_protocol::input::InputRequest;
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::legacy::TaskStatusNotificationParams;
use sterna_store::{Name, Status, Task};
use tokio::time::Instant;

use super::answer::TaskQuestion;
use super::{known, read};
use crate::call::missing_capabilities;
use crate::failure::Failure;
use crate::reply::Answer;
use crate::session_table::{DISCONNECTED, SessionState, stop};
use crate::sessions::calls::{only_objects, refused};
use crate::sessions::dispatch::Post;
use crate::sessions::prompter::send_question;
use crate::tasks::tasks_2025_11_25::{self, LegacyTaskResult};

/// Answers when the task has ended. `None` if the client took the request back;
/// the task goes on all the same.
pub(in crate::sessions) async fn wait(post: Post, id: RequestId, task: &str) -> Option<Answer> {
    let live = match post.core.session_table.live(post.session.key) {
        Ok(live) => live,
        Err(failure) => return Some(refused(id, failure)),
    };
    let stopped = live.begin(id.clone());
    let waiting = tokio::time::timeout_at(post.deadline.into(), until_ended(&post, &live, task));
    let ended = tokio::select! {
        biased;
        () = stop(stopped) => return None,
        ended = waiting => ended.unwrap_or(Err(Failure::TimedOut)),
    };
    Some(match ended {
        Ok(LegacyTaskResult::Result(mut result)) => {
            only_objects(&mut result);
            if let Some(meta) = &mut result.meta {
                meta.server_info = None;
            }
            Answer::done(id, &result)
        }
        Ok(LegacyTaskResult::Error(error)) => Answer::refused(id, error),
        Err(failure) => refused(id, failure),
    })
}

async fn until_ended(
    post: &Post,
    live: &SessionState,
    id: &str,
) -> Result<LegacyTaskResult, Failure> {
    let (tasks, id) = known(post, id)?;
    // Before the task is read, so that no change is missed.
    let mut watch = tasks.queue.watch([id]);
    let mut task = read(post, tasks, id).await?;
    let mut asked = HashSet::new();
    let mut told = task.summary.status;
    loop {
        let looked_at = Instant::now();
        if told != task.summary.status {
            told = task.summary.status;
            tell(
                post,
                TaskStatusNotificationParams::new(tasks_2025_11_25::task(tasks, &task)),
            );
        }
        if let Some(end) = tasks_2025_11_25::end(&task) {
            return Ok(end);
        }
        if told == Status::InputRequired && live.is_disconnected() {
            return Err(DISCONNECTED);
        }
        ask(post, &task, &mut asked)?;
        tasks.pause(looked_at, &mut watch).await;
        task = read(post, tasks, id).await?;
    }
}

/// Puts to the client what it has not been asked on this stream.
fn ask(post: &Post, task: &Task, asked: &mut HashSet<Name>) -> Result<(), Failure> {
    if !post.accepts.events() {
        // Without a stream nothing can be asked.
        return Ok(());
    }
    for question in &task.questions {
        let Ok(request) = serde_json::from_slice::<InputRequest>(&question.request) else {
            continue;
        };
        // Another session of the caller may have begun the task, with a client that can do more.
        let is_missing = missing_capabilities(&post.session.capabilities, &request).is_some();
        if is_missing || !asked.insert(question.key.clone()) {
            continue;
        }
        let charged = post.admission.charge_questions(1, clock::now());
        charged.map_err(|refusal| Failure::Forbidden(Box::new(refusal)))?;
        let question = TaskQuestion {
            task: task.summary.id,
            key: question.key.clone(),
        };
        let id = question.id();
        let version = &post.session.version;
        send_question(&post.sink, id, version, request, Some(question.task))?;
    }
    Ok(())
}

fn tell(post: &Post, params: TaskStatusNotificationParams) {
    if post.accepts.events() {
        // A client must not rely on it, so one that lags behind does without.
        let _ = post.sink.notify("notifications/tasks/status", &params);
    }
}
