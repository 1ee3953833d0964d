//! Progress of a request.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::json::Number;
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

wire! {
    /// Parameters of `notifications/progress`.
    pub struct ProgressNotificationParams {
        required {
            /// Token of the request that asked for progress.
            progress_token: ProgressToken = "progressToken",
            /// Progress so far. Increases with every notification.
            progress: Number = "progress",
        }
        optional {
            /// Progress at the end, if known.
            total: Option<Number> = "total",
            /// Current activity, for users.
            message: Option<String> = "message",
            /// Notification metadata (`_meta`).
            meta: Option<NotificationMeta> = "_meta",
        }
    }

    /// Reports `progress` without a total.
    new(progress_token: ProgressToken, progress: impl Into<Number>);
}
