//! Progress of a request that takes its time.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::json::{JsonObject, Number};
use crate::jsonrpc::RequestId;
use crate::notification::NotificationMeta;

/// Ties progress to the request that asked for it: a string or an integer of
/// the requester's choice.
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

/// The parameters of `notifications/progress`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProgressNotificationParams {
    /// The request that asked for it.
    pub progress_token: ProgressToken,
    /// How far it is; grows with every notification.
    pub progress: Number,
    /// How far it will go, if that is known.
    pub total: Option<Number>,
    /// What is being done, in words for people.
    pub message: Option<String>,
    /// What the notification says about itself.
    pub meta: Option<NotificationMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ProgressNotificationParams {
    /// `progress` towards a total nobody knows.
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
