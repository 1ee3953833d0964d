use crate::json::JsonObject;
use crate::jsonrpc::RequestId;
use crate::meta::{NotificationMeta, RelatedTaskMetadata};
use crate::progress::ProgressToken;

/// Metadata (`_meta`) of a request in a session.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RequestMeta {
    /// Token for progress notifications about this request.
    pub progress_token: Option<ProgressToken>,
    /// Task that the request belongs to.
    pub related_task: Option<RelatedTaskMetadata>,
    /// W3C trace context: parent span of the request.
    pub traceparent: Option<String>,
    /// W3C trace context: vendor data.
    pub tracestate: Option<String>,
    /// W3C baggage.
    pub baggage: Option<String>,
    /// All other keys.
    pub extra: JsonObject,
}

members!(RequestMeta {
    optional: progress_token = "progressToken",
        related_task = "io.modelcontextprotocol/related-task",
        traceparent = "traceparent", tracestate = "tracestate", baggage = "baggage";
    rest: extra
});

/// Parameters of a request without any of its own.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RequestParams {
    /// Request metadata (`_meta`).
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(RequestParams {
    optional: meta = "_meta";
    rest: extra
});

/// Parameters of `notifications/cancelled`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CancelledNotificationParams {
    /// The request to cancel. Only 2025-11-25 allows it to be missing.
    pub request_id: Option<RequestId>,
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
            request_id: Some(request_id),
            ..Self::default()
        }
    }
}

members!(CancelledNotificationParams {
    optional: request_id = "requestId", reason = "reason", meta = "_meta";
    rest: extra
});
