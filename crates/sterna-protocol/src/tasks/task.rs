use crate::json::{JsonObject, OtherName};

/// Task without its result, error or questions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Task {
    /// Id of the task, chosen by the server.
    pub task_id: String,
    /// Status of the task.
    pub status: TaskStatus,
    /// Time of creation, in ISO 8601.
    pub created_at: String,
    /// Time of the last change, in ISO 8601.
    pub last_updated_at: String,
    /// Milliseconds after creation for which the task is kept; `None` for no
    /// limit.
    pub ttl_ms: Option<u64>,
    /// Milliseconds to wait between two requests for the status.
    pub poll_interval_ms: Option<u64>,
    /// Details of the status, for people.
    pub status_message: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Task {
    /// Creates a working task without a time limit.
    pub fn new(task_id: impl Into<String>, created_at: impl Into<String>) -> Self {
        let created_at = created_at.into();
        Self {
            task_id: task_id.into(),
            status: TaskStatus::Working,
            last_updated_at: created_at.clone(),
            created_at,
            ttl_ms: None,
            poll_interval_ms: None,
            status_message: None,
            extra: JsonObject::new(),
        }
    }
}

members!(Task {
    required: task_id = "taskId", status = "status", created_at = "createdAt",
        last_updated_at = "lastUpdatedAt", ttl_ms = "ttlMs";
    optional: poll_interval_ms = "pollIntervalMs", status_message = "statusMessage";
    rest: extra
});

/// Status of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskStatus {
    /// Cancelled.
    Cancelled,
    /// Completed; a tool may still have reported a failure.
    Completed,
    /// Failed with a JSON-RPC error.
    Failed,
    /// Waiting for answers of the client.
    InputRequired,
    /// Running.
    Working,
    /// Status that this revision does not define.
    Other(OtherName),
}

names!(TaskStatus {
    Cancelled = "cancelled",
    Completed = "completed",
    Failed = "failed",
    InputRequired = "input_required",
    Working = "working",
});

impl TaskStatus {
    /// Returns true if the task can no longer change.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Cancelled | Self::Completed | Self::Failed)
    }
}
