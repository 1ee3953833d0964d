use crate::cancellation::CancelledNotificationParams;
use crate::logging::LoggingMessageNotificationParams;
use crate::meta::NotificationParams;
use crate::progress::ProgressNotificationParams;
use crate::resource::ResourceUpdatedNotificationParams;
use crate::subscription::SubscriptionsAcknowledgedNotificationParams;

notifications! {
    /// Takes a request back or, from the server, ends a subscription.
    Cancelled = "notifications/cancelled": CancelledNotificationParams,
    /// Says something for the log.
    LoggingMessage = "notifications/message": LoggingMessageNotificationParams,
    /// Says how far a request is.
    Progress = "notifications/progress": ProgressNotificationParams,
    /// The list of prompts changed.
    PromptListChanged = "notifications/prompts/list_changed": Option<NotificationParams>,
    /// The list of resources changed.
    ResourceListChanged = "notifications/resources/list_changed": Option<NotificationParams>,
    /// A resource changed.
    ResourceUpdated = "notifications/resources/updated": ResourceUpdatedNotificationParams,
    /// Says what a subscription will bring.
    SubscriptionsAcknowledged = "notifications/subscriptions/acknowledged":
        SubscriptionsAcknowledgedNotificationParams,
    /// The list of tools changed.
    ToolListChanged = "notifications/tools/list_changed": Option<NotificationParams>,
}

family! {
    /// What a server tells a client.
    ServerNotification, ServerNotificationMethod: NotificationMethod {
        Cancelled, LoggingMessage, Progress, PromptListChanged, ResourceListChanged,
        ResourceUpdated, SubscriptionsAcknowledged, ToolListChanged,
    }
}
