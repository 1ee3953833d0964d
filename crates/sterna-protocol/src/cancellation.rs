//! Cancellation of a request by its sender.

use crate::jsonrpc::RequestId;
use crate::notification::NotificationMeta;

wire! {
    /// Parameters of `notifications/cancelled`.
    pub struct CancelledNotificationParams {
        required {
            /// The request to cancel.
            request_id: RequestId = "requestId",
        }
        optional {
            /// Reason, for logs and users.
            reason: Option<String> = "reason",
            /// Notification metadata (`_meta`).
            meta: Option<NotificationMeta> = "_meta",
        }
    }

    /// Cancels `request_id` without a reason.
    new(request_id: RequestId);
}
