//! Notification metadata, and the task that a message belongs to.

use crate::json::JsonObject;
use crate::jsonrpc::RequestId;

/// Metadata (`_meta`) of a notification.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NotificationMeta {
    /// The `subscriptions/listen` request whose stream carries the
    /// notification.
    pub subscription_id: Option<RequestId>,
    /// Task of 2025-11-25 that the notification belongs to.
    pub related_task: Option<RelatedTaskMetadata>,
    /// All other keys.
    pub extra: JsonObject,
}

impl NotificationMeta {
    /// Creates the metadata of a notification on the stream of the request
    /// `subscription_id`.
    pub fn on(subscription_id: RequestId) -> Self {
        Self {
            subscription_id: Some(subscription_id),
            ..Self::default()
        }
    }
}

members!(NotificationMeta {
    optional: subscription_id = "io.modelcontextprotocol/subscriptionId",
        related_task = "io.modelcontextprotocol/related-task";
    rest: extra
});

/// Parameters of a notification without any of its own.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NotificationParams {
    /// Notification metadata (`_meta`).
    pub meta: Option<NotificationMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(NotificationParams {
    optional: meta = "_meta";
    rest: extra
});

/// Reference from a message to a task of 2025-11-25.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RelatedTaskMetadata {
    /// Id of the task.
    pub task_id: String,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl RelatedTaskMetadata {
    /// Refers to the task `task_id`.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
            extra: JsonObject::new(),
        }
    }
}

members!(RelatedTaskMetadata {
    required: task_id = "taskId";
    rest: extra
});
