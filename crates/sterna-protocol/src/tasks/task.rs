use crate::json::{JsonObject, OtherName};

/// What is known about a task, except what came of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Task {
    /// The name of the task; the server chose it.
    pub task_id: String,
    /// How it stands.
    pub status: TaskStatus,
    /// When it was created, an ISO 8601 time.
    pub created_at: String,
    /// When it last changed, an ISO 8601 time.
    pub last_updated_at: String,
    /// For how many milliseconds after its creation it is kept; `None` for
    /// ever.
    pub ttl_ms: Option<u64>,
    /// How many milliseconds to wait before asking again.
    pub poll_interval_ms: Option<u64>,
    /// How it stands, in words.
    pub status_message: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Task {
    /// A task that was just created and is kept for ever.
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

/// How a task stands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskStatus {
    /// It was called off.
    Cancelled,
    /// It is done, though a tool may have failed in it.
    Completed,
    /// It ended in a JSON-RPC error.
    Failed,
    /// It waits for the client to answer.
    InputRequired,
    /// It is being worked on.
    Working,
    /// A status this revision does not define.
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
    /// Whether the task will never change again.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Cancelled | Self::Completed | Self::Failed)
    }
}
