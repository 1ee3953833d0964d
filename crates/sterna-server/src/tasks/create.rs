//! Creates the task of a call.

use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::Value;
use sterna_flow::Journal;
use sterna_http::auth::Caller;
use sterna_protocol::legacy;
use sterna_protocol::meta::{RequestMeta, ResultMeta};
use sterna_protocol::result::Complete;
use sterna_protocol::tasks::CreateTaskResult;
use sterna_runner::effects::random_bytes;
use sterna_runner::tasks::stored_entry;
use sterna_store::{Entry, Error, ErrorKind, FlowId, Name, NewTask, Summary, TaskId};

use super::v1::Stored;
use super::{Tasks, store_failed, tasks_2025_11_25};
use crate::failure::Failure;
use crate::task_mode::{TaskDialect, TaskOptions};

/// A call that goes on as a task.
pub(crate) struct NewTaskRequest<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) meta: RequestMeta,
    pub(crate) tool: &'a str,
    pub(crate) arguments: Value,
    /// Lifetime that the tool sets for its tasks.
    pub(crate) tool_ttl: Option<Duration>,
    /// Time for which the client wants the task to be kept.
    pub(crate) ttl: Option<Duration>,
    /// Id and journal of the flow, if it has begun.
    pub(crate) begun: Option<(FlowId, &'a Journal)>,
}

impl Tasks {
    /// Creates the task, and returns when it is durable (TASK-S5). The result is in
    /// the dialect of `options`.
    pub(crate) async fn create(
        &self,
        opening: NewTaskRequest<'_>,
        options: TaskOptions,
        meta: ResultMeta,
    ) -> Result<CreatedTask, Failure> {
        let summary = self.open(opening).await?;
        let meta = Some(meta);
        Ok(match options.dialect {
            TaskDialect::Extension => {
                let mut result = CreateTaskResult::new(self.head(&summary));
                result.meta = meta;
                CreatedTask::Extension(result)
            }
            TaskDialect::Proposal => {
                let mut result =
                    legacy::CreateTaskResult::new(tasks_2025_11_25::head(self, &summary));
                result.meta = meta;
                CreatedTask::Proposal(result)
            }
        })
    }

    /// Creates the task for a client of any era.
    pub(crate) async fn open(&self, opening: NewTaskRequest<'_>) -> Result<Summary, Failure> {
        let no_bytes = |error| {
            tracing::error!(target: "sterna::tasks", %error, "a task has no id");
            Failure::Internal
        };
        // TASK-S25
        let id = TaskId::from_bytes(random_bytes().map_err(no_bytes)?);
        let id = self.store.place_task(id);
        let (flow, journal) = match opening.begun {
            Some((flow, journal)) => (flow, entries(journal)?),
            None => {
                let flow = self.flow_ids.mint_for_task().map_err(no_bytes)?;
                (self.store.place_flow(flow), Vec::new())
            }
        };
        let request = Stored::new(
            self.build.id,
            self.build.version,
            opening.tool,
            opening.arguments,
            opening.meta,
            opening.caller,
        );
        let target = Name::new(opening.tool).map_err(|_| Failure::Internal)?;
        let owner = self.owner(opening.caller);
        let mut task = NewTask::new(id, owner, flow, target, request.write());
        task.journal = journal;
        // A client may ask for less than that, not for more.
        let longest = self.longest(opening.tool_ttl);
        task.ttl = [opening.ttl, longest].into_iter().flatten().min();
        task.quota = self.config.per_owner;
        let created = self.store.create(task).await;
        let summary = created.map_err(|error| self.not_created(&error))?;
        self.queue.notify_workers();
        Ok(summary)
    }
}

impl Tasks {
    /// Logs why a task was not created, and returns the failure of its call.
    fn not_created(&self, error: &Error) -> Failure {
        if error.kind() == ErrorKind::Quota {
            let most = self.config.per_owner.unwrap_or_default();
            tracing::info!(target: "sterna::tasks", most, "MR0411: a caller has too many unfinished tasks");
            return Failure::TooManyTasks(most);
        }
        self.queue.health().note(error);
        store_failed(error)
    }
}

fn entries(journal: &Journal) -> Result<Vec<Entry>, Failure> {
    let entries = journal.entries().iter();
    entries
        .map(|entry| stored_entry(entry).ok_or(Failure::Internal))
        .collect()
}

/// Result of a call that goes on as a task.
#[derive(Debug)]
pub(crate) enum CreatedTask {
    Extension(CreateTaskResult),
    Proposal(legacy::CreateTaskResult),
}

impl Serialize for CreatedTask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Extension(created) => created.serialize(serializer),
            // BASE-S3: the proposal itself says nothing, which means the same.
            Self::Proposal(created) => Complete(created).serialize(serializer),
        }
    }
}
