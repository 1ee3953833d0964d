//! Subscriptions: streams of notifications that a client asked for.

use crate::implementation::Implementation;
use crate::json::JsonObject;
use crate::jsonrpc::RequestId;
use crate::meta::{NotificationMeta, RequestMeta};

/// Kinds of notification that a client asks for, or that a server agreed to
/// send.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SubscriptionFilter {
    /// Changes of the list of tools.
    pub tools_list_changed: Option<bool>,
    /// Changes of the list of prompts.
    pub prompts_list_changed: Option<bool>,
    /// Changes of the list of resources.
    pub resources_list_changed: Option<bool>,
    /// URIs of resources whose updates are reported.
    pub resource_subscriptions: Option<Vec<String>>,
    /// Ids of tasks whose changes are reported. Needs the tasks extension.
    pub task_ids: Option<Vec<String>>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(SubscriptionFilter {
    optional: tools_list_changed = "toolsListChanged",
        prompts_list_changed = "promptsListChanged",
        resources_list_changed = "resourcesListChanged",
        resource_subscriptions = "resourceSubscriptions",
        task_ids = "taskIds";
    rest: extra
});

/// Parameters of `subscriptions/listen`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubscriptionsListenRequestParams {
    /// Request metadata (`_meta`): protocol version, client info, capabilities.
    pub meta: RequestMeta,
    /// Notifications that the client asks for.
    pub notifications: SubscriptionFilter,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl SubscriptionsListenRequestParams {
    /// Asks for `notifications`.
    pub fn new(meta: RequestMeta, notifications: SubscriptionFilter) -> Self {
        Self {
            meta,
            notifications,
            extra: JsonObject::new(),
        }
    }
}

members!(SubscriptionsListenRequestParams {
    required: meta = "_meta", notifications = "notifications";
    rest: extra
});

/// Parameters of `notifications/subscriptions/acknowledged`, the first message
/// of every subscription.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubscriptionsAcknowledgedNotificationParams {
    /// Part of the filter that the server supports.
    pub notifications: SubscriptionFilter,
    /// Notification metadata (`_meta`).
    pub meta: Option<NotificationMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
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

members!(SubscriptionsAcknowledgedNotificationParams {
    required: notifications = "notifications";
    optional: meta = "_meta";
    rest: extra
});

/// Result of `subscriptions/listen`: the server has ended the stream.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubscriptionsListenResult {
    /// Result metadata (`_meta`), with the id of the stream that ended.
    pub meta: SubscriptionsListenResultMeta,
    /// Members this revision does not define.
    pub extra: JsonObject,
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

members!(SubscriptionsListenResult {
    required: meta = "_meta";
    rest: extra
});

/// Metadata (`_meta`) of a [`SubscriptionsListenResult`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubscriptionsListenResultMeta {
    /// Id of the `subscriptions/listen` request.
    pub subscription_id: RequestId,
    /// Server info: self-reported name and version.
    pub server_info: Option<Implementation>,
    /// All other keys.
    pub extra: JsonObject,
}

members!(SubscriptionsListenResultMeta {
    required: subscription_id = "io.modelcontextprotocol/subscriptionId";
    optional: server_info = "io.modelcontextprotocol/serverInfo";
    rest: extra
});
