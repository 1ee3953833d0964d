//! Cancellation of a request by its sender.

use crate::jsonrpc::RequestId;
use crate::notification::NotificationMeta;

wire! {
    /// Parameters of `notifications/cancelled`.
    ///
    /// The sender no longer needs the result. The receiver stops its work and
    /// sends no response.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_protocol::cancellation::CancelledNotificationParams;
    /// use sterna_protocol::jsonrpc::Notification;
    /// use sterna_protocol::methods::{Cancelled, NotificationMethod};
    ///
    /// let mut params = CancelledNotificationParams::new(7.into());
    /// params.reason = Some("the user closed the window".to_owned());
    ///
    /// let mut body = Vec::new();
    /// Notification::new(Cancelled::METHOD, params).encode(&mut body)?;
    /// assert_eq!(
    ///     String::from_utf8(body)?,
    ///     r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"the user closed the window"}}"#,
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
