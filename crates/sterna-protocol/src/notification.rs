//! `_meta` of notifications, and the task that a message belongs to.

use crate::json::JsonObject;
use crate::jsonrpc::RequestId;

/// The `_meta` of a notification.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NotificationMeta {
    /// The `subscriptions/listen` request that the notification belongs to.
    pub subscription_id: Option<RequestId>,
    /// 2025-11-25: the task this notification belongs to.
    pub related_task: Option<RelatedTaskMetadata>,
    /// Every other key.
    pub extra: JsonObject,
}

impl NotificationMeta {
    /// A notification on the stream that the request `subscription_id` opened.
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

/// The parameters of a notification that has none of its own.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NotificationParams {
    /// What the notification says about itself.
    pub meta: Option<NotificationMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(NotificationParams {
    optional: meta = "_meta";
    rest: extra
});

/// Ties a message to a task of 2025-11-25.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RelatedTaskMetadata {
    /// The task.
    pub task_id: String,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl RelatedTaskMetadata {
    /// Belongs to the task `task_id`.
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
