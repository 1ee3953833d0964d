//! Progress of a request.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::json::{JsonObject, Number};
use crate::jsonrpc::RequestId;
use crate::notification::NotificationMeta;

/// Token of the requester's choice that ties progress notifications to a
/// request: a string or an integer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProgressToken(RequestId);

impl fmt::Display for ProgressToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Into<RequestId>> From<T> for ProgressToken {
    fn from(token: T) -> Self {
        Self(token.into())
    }
}

/// Parameters of `notifications/progress`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProgressNotificationParams {
    /// Token of the request that asked for progress.
    pub progress_token: ProgressToken,
    /// Progress so far. Increases with every notification.
    pub progress: Number,
    /// Progress at the end, if known.
    pub total: Option<Number>,
    /// Current activity, for users.
    pub message: Option<String>,
    /// Notification metadata (`_meta`).
    pub meta: Option<NotificationMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ProgressNotificationParams {
    /// Reports `progress` without a total.
    pub fn new(progress_token: ProgressToken, progress: impl Into<Number>) -> Self {
        Self {
            progress_token,
            progress: progress.into(),
            total: None,
            message: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ProgressNotificationParams {
    required: progress_token = "progressToken", progress = "progress";
    optional: total = "total", message = "message", meta = "_meta";
    rest: extra
});
