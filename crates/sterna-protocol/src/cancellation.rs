//! Taking a request back.

use crate::json::JsonObject;
use crate::jsonrpc::RequestId;
use crate::notification::NotificationMeta;

/// The parameters of `notifications/cancelled`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CancelledNotificationParams {
    /// The request that is taken back.
    pub request_id: RequestId,
    /// Why, for logs and people.
    pub reason: Option<String>,
    /// What the notification says about itself.
    pub meta: Option<NotificationMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CancelledNotificationParams {
    /// Takes `request_id` back without a reason.
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
