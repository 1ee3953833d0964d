use crate::json::JsonObject;
use crate::jsonrpc::RequestId;
use crate::meta::{NotificationMeta, RelatedTaskMetadata};
use crate::progress::ProgressToken;

/// The `_meta` of a request within a session.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RequestMeta {
    /// Asks for progress of this request under this token.
    pub progress_token: Option<ProgressToken>,
    /// The task this request belongs to.
    pub related_task: Option<RelatedTaskMetadata>,
    /// W3C trace context: the span this request belongs to.
    pub traceparent: Option<String>,
    /// W3C trace context: what the tracing vendors add.
    pub tracestate: Option<String>,
    /// W3C baggage.
    pub baggage: Option<String>,
    /// Every other key.
    pub extra: JsonObject,
}

members!(RequestMeta {
    optional: progress_token = "progressToken",
        related_task = "io.modelcontextprotocol/related-task",
        traceparent = "traceparent", tracestate = "tracestate", baggage = "baggage";
    rest: extra
});

/// The parameters of a request that has none of its own.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RequestParams {
    /// What the request says about itself.
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(RequestParams {
    optional: meta = "_meta";
    rest: extra
});

/// The parameters of `notifications/cancelled`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CancelledNotificationParams {
    /// The request that is taken back; 2025-11-25 alone allows to leave it out.
    pub request_id: Option<RequestId>,
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
            request_id: Some(request_id),
            ..Self::default()
        }
    }
}

members!(CancelledNotificationParams {
    optional: request_id = "requestId", reason = "reason", meta = "_meta";
    rest: extra
});
