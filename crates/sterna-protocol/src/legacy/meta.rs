use crate::jsonrpc::RequestId;
use crate::meta::{NotificationMeta, RelatedTaskMetadata};
use crate::progress::ProgressToken;

wire! {
    /// Metadata (`_meta`) of a request in a session.
    #[derive(Default)]
    pub struct RequestMeta {
        optional {
            /// Token for progress notifications about this request.
            progress_token: Option<ProgressToken> = "progressToken",
            /// Task that the request belongs to.
            related_task: Option<RelatedTaskMetadata> = "io.modelcontextprotocol/related-task",
            /// W3C trace context: parent span of the request.
            traceparent: Option<String> = "traceparent",
            /// W3C trace context: vendor data.
            tracestate: Option<String> = "tracestate",
            /// W3C baggage.
            baggage: Option<String> = "baggage",
        }
    }
}

wire! {
    /// Parameters of a request without any of its own.
    #[derive(Default)]
    pub struct RequestParams {
        optional {
            /// Request metadata (`_meta`).
            meta: Option<RequestMeta> = "_meta",
        }
    }
}

wire! {
    /// Parameters of `notifications/cancelled`.
    #[derive(Default)]
    pub struct CancelledNotificationParams {
        optional {
            /// The request to cancel. Only 2025-11-25 allows it to be missing.
            request_id: Option<RequestId> = "requestId",
            /// Reason, for logs and users.
            reason: Option<String> = "reason",
            /// Notification metadata (`_meta`).
            meta: Option<NotificationMeta> = "_meta",
        }
    }
}

impl CancelledNotificationParams {
    /// Cancels `request_id` without a reason.
    pub fn new(request_id: RequestId) -> Self {
        Self {
            request_id: Some(request_id),
            ..Self::default()
        }
    }
}
