//! Cancellation of a request by its sender.

use crate::json::JsonObject;
use crate::jsonrpc::RequestId;
use crate::notification::NotificationMeta;

/// Parameters of `notifications/cancelled`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CancelledNotificationParams {
    /// The request to cancel.
    pub request_id: RequestId,
    /// Reason, for logs and users.
    pub reason: Option<String>,
    /// Notification metadata (`_meta`).
    pub meta: Option<NotificationMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CancelledNotificationParams {
    /// Cancels `request_id` without a reason.
    pub fn new(request_id: RequestId) -> Self {
        Self {
            request_id,
            reason: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(CancelledNotificationParams {
    required: request_id = "requestId";
    optional: reason = "reason", meta = "_meta";
    rest: extra
});
