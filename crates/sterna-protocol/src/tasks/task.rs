use crate::json::{JsonObject, OtherName};

wire! {
    /// Task without its result, error or questions.
    pub struct Task {
        required {
            /// Id of the task, chosen by the server.
            task_id: String = "taskId",
            /// Status of the task.
            status: TaskStatus = "status",
            /// Time of creation, in ISO 8601.
            created_at: String = "createdAt",
            /// Time of the last change, in ISO 8601.
            last_updated_at: String = "lastUpdatedAt",
            /// Milliseconds after creation for which the task is kept; `None`
            /// for no limit.
            ttl_ms: Option<u64> = "ttlMs",
        }
        optional {
            /// Milliseconds to wait between two requests for the status.
            poll_interval_ms: Option<u64> = "pollIntervalMs",
            /// Details of the status, for people.
            status_message: Option<String> = "statusMessage",
        }
    }
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
