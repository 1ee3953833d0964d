//! Subscriptions: streams of notifications that a client asked for.

use crate::implementation::Implementation;
use crate::json::JsonObject;
use crate::jsonrpc::RequestId;
use crate::meta::{NotificationMeta, RequestMeta};

wire! {
    /// Kinds of notification that a client asks for, or that a server agreed to
    /// send.
    #[derive(Default)]
    pub struct SubscriptionFilter {
        optional {
            /// Changes of the list of tools.
            tools_list_changed: Option<bool> = "toolsListChanged",
            /// Changes of the list of prompts.
            prompts_list_changed: Option<bool> = "promptsListChanged",
            /// Changes of the list of resources.
            resources_list_changed: Option<bool> = "resourcesListChanged",
            /// URIs of resources whose updates are reported.
            resource_subscriptions: Option<Vec<String>> = "resourceSubscriptions",
            /// Ids of tasks whose changes are reported. Needs the tasks
            /// extension.
            task_ids: Option<Vec<String>> = "taskIds",
        }
    }
}

wire! {
    /// Parameters of `subscriptions/listen`.
    pub struct SubscriptionsListenRequestParams {
        required {
            /// Request metadata (`_meta`): protocol version, client info,
            /// capabilities.
            meta: RequestMeta = "_meta",
            /// Notifications that the client asks for.
            notifications: SubscriptionFilter = "notifications",
        }
    }

    /// Asks for `notifications`.
    new(meta: RequestMeta, notifications: SubscriptionFilter);
}

wire! {
    /// Parameters of `notifications/subscriptions/acknowledged`, the first
    /// message of every subscription.
    pub struct SubscriptionsAcknowledgedNotificationParams {
        required {
            /// Part of the filter that the server supports.
            notifications: SubscriptionFilter = "notifications",
        }
        optional {
            /// Notification metadata (`_meta`).
            meta: Option<NotificationMeta> = "_meta",
        }
    }
}

impl SubscriptionsAcknowledgedNotificationParams {
    /// Acknowledges `notifications` on the stream of the request
    /// `subscription_id`.
    pub fn new(subscription_id: RequestId, notifications: SubscriptionFilter) -> Self {
        Self {
            notifications,
            meta: Some(NotificationMeta::on(subscription_id)),
            extra: JsonObject::new(),
        }
    }
}

wire! {
    /// Result of `subscriptions/listen`: the server has ended the stream.
    pub struct SubscriptionsListenResult {
        required {
            /// Result metadata (`_meta`), with the id of the stream that ended.
            meta: SubscriptionsListenResultMeta = "_meta",
        }
    }
}

impl SubscriptionsListenResult {
    /// Ends the stream of the request `subscription_id`.
    pub fn new(subscription_id: RequestId) -> Self {
        Self {
            meta: SubscriptionsListenResultMeta {
                subscription_id,
                server_info: None,
                extra: JsonObject::new(),
            },
            extra: JsonObject::new(),
        }
    }
}

wire! {
    /// Metadata (`_meta`) of a [`SubscriptionsListenResult`].
    pub struct SubscriptionsListenResultMeta {
        required {
            /// Id of the `subscriptions/listen` request.
            subscription_id: RequestId = "io.modelcontextprotocol/subscriptionId",
        }
        optional {
            /// Server info: self-reported name and version.
            server_info: Option<Implementation> = "io.modelcontextprotocol/serverInfo",
        }
    }
}
