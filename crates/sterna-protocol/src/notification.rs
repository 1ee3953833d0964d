//! Notification metadata, and the task that a message belongs to.

use crate::jsonrpc::RequestId;

wire! {
    /// Metadata (`_meta`) of a notification.
    #[derive(Default)]
    pub struct NotificationMeta {
        optional {
            /// The `subscriptions/listen` request whose stream carries the
            /// notification.
            subscription_id: Option<RequestId> = "io.modelcontextprotocol/subscriptionId",
            /// Task of 2025-11-25 that the notification belongs to.
            related_task: Option<RelatedTaskMetadata> = "io.modelcontextprotocol/related-task",
        }
    }
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

wire! {
    /// Parameters of a notification without any of its own.
    #[derive(Default)]
    pub struct NotificationParams {
        optional {
            /// Notification metadata (`_meta`).
            meta: Option<NotificationMeta> = "_meta",
        }
    }
}

wire! {
    /// Reference from a message to a task of 2025-11-25.
    pub struct RelatedTaskMetadata {
        required {
            /// Id of the task.
            task_id: String = "taskId",
        }
    }

    /// Refers to the task `task_id`.
    new(task_id: impl Into<String>);
}
