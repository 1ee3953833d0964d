//! Subscriptions: a stream of notifications that the client asked for.

use crate::implementation::Implementation;
use crate::json::JsonObject;
use crate::jsonrpc::RequestId;
use crate::meta::{NotificationMeta, RequestMeta};

/// Which notifications a client wants, or a server agreed to send.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SubscriptionFilter {
    /// When the list of tools changes.
    pub tools_list_changed: Option<bool>,
    /// When the list of prompts changes.
    pub prompts_list_changed: Option<bool>,
    /// When the list of resources changes.
    pub resources_list_changed: Option<bool>,
    /// When one of these resources changes.
    pub resource_subscriptions: Option<Vec<String>>,
    /// When one of these tasks changes; needs the tasks extension.
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

/// The parameters of `subscriptions/listen`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubscriptionsListenRequestParams {
    /// What makes the request stand alone.
    pub meta: RequestMeta,
    /// What the client wants to hear of.
    pub notifications: SubscriptionFilter,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl SubscriptionsListenRequestParams {
    /// Listens for `notifications`.
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

/// The parameters of `notifications/subscriptions/acknowledged`, the first
/// message of every subscription.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubscriptionsAcknowledgedNotificationParams {
    /// The part of the filter that the server will honour.
    pub notifications: SubscriptionFilter,
    /// What the notification says about itself.
    pub meta: Option<NotificationMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl SubscriptionsAcknowledgedNotificationParams {
    /// Agrees to send `notifications` on the stream that the request
    /// `subscription_id` opened.
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

/// The result of `subscriptions/listen`: the server ended the stream on
/// purpose.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubscriptionsListenResult {
    /// Which stream ended.
    pub meta: SubscriptionsListenResultMeta,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl SubscriptionsListenResult {
    /// Ends the stream that the request `subscription_id` opened.
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

/// The `_meta` of a [`SubscriptionsListenResult`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubscriptionsListenResultMeta {
    /// The `subscriptions/listen` request that is answered.
    pub subscription_id: RequestId,
    /// Who the server says it is.
    pub server_info: Option<Implementation>,
    /// Every other key.
    pub extra: JsonObject,
}

members!(SubscriptionsListenResultMeta {
    required: subscription_id = "io.modelcontextprotocol/subscriptionId";
    optional: server_info = "io.modelcontextprotocol/serverInfo";
    rest: extra
});
