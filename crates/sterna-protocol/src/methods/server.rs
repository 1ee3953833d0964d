use crate::cancellation::CancelledNotificationParams;
use crate::logging::LoggingMessageNotificationParams;
use crate::meta::NotificationParams;
use crate::progress::ProgressNotificationParams;
use crate::resource::ResourceUpdatedNotificationParams;
use crate::subscription::SubscriptionsAcknowledgedNotificationParams;

notifications! {
    /// Cancels a request or, sent by the server, ends a subscription.
    Cancelled = "notifications/cancelled": CancelledNotificationParams,
    /// Sends a log message.
    LoggingMessage = "notifications/message": LoggingMessageNotificationParams,
    /// Reports the progress of a request.
    Progress = "notifications/progress": ProgressNotificationParams,
    /// Reports a change of the list of prompts.
    PromptListChanged = "notifications/prompts/list_changed": Option<NotificationParams>,
    /// Reports a change of the list of resources.
    ResourceListChanged = "notifications/resources/list_changed": Option<NotificationParams>,
    /// Reports an update of a resource.
    ResourceUpdated = "notifications/resources/updated": ResourceUpdatedNotificationParams,
    /// Reports the notifications that a subscription will receive.
    SubscriptionsAcknowledged = "notifications/subscriptions/acknowledged":
        SubscriptionsAcknowledgedNotificationParams,
    /// Reports a change of the list of tools.
    ToolListChanged = "notifications/tools/list_changed": Option<NotificationParams>,
}

family! {
    /// Notifications of a server to a client.
    ServerNotification, ServerNotificationMethod: NotificationMethod {
        Cancelled, LoggingMessage, Progress, PromptListChanged, ResourceListChanged,
        ResourceUpdated, SubscriptionsAcknowledged, ToolListChanged,
    }
}
