//! Log messages from server to client (deprecated in 2026-07-28).

use crate::json::{JsonObject, OtherName, RawJson};
use crate::notification::NotificationMeta;

/// How bad it is, after RFC 5424.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoggingLevel {
    /// Detail for debugging.
    Debug,
    /// What happens normally.
    Info,
    /// Normal but worth a look.
    Notice,
    /// Something may go wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// Something important went wrong.
    Critical,
    /// Somebody must act at once.
    Alert,
    /// Nothing works.
    Emergency,
    /// A level this revision does not define.
    Other(OtherName),
}

names!(LoggingLevel {
    Debug = "debug",
    Info = "info",
    Notice = "notice",
    Warning = "warning",
    Error = "error",
    Critical = "critical",
    Alert = "alert",
    Emergency = "emergency",
});

impl LoggingLevel {
    /// Whether somebody who asked for `self` wants a message of `level`.
    ///
    /// Nobody can place a level that is not defined, so it is never wanted and
    /// asking for it is asking for nothing.
    pub fn admits(&self, level: &Self) -> bool {
        matches!((self.severity(), level.severity()), (Some(least), Some(found)) if found >= least)
    }

    fn severity(&self) -> Option<u8> {
        match self {
            Self::Debug => Some(0),
            Self::Info => Some(1),
            Self::Notice => Some(2),
            Self::Warning => Some(3),
            Self::Error => Some(4),
            Self::Critical => Some(5),
            Self::Alert => Some(6),
            Self::Emergency => Some(7),
            Self::Other(_) => None,
        }
    }
}

/// The parameters of `notifications/message`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoggingMessageNotificationParams {
    /// How bad it is.
    pub level: LoggingLevel,
    /// What is said: text or any other JSON.
    pub data: RawJson,
    /// Which part of the server says it.
    pub logger: Option<String>,
    /// What the notification says about itself.
    pub meta: Option<NotificationMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl LoggingMessageNotificationParams {
    /// `data`, said at `level` by nobody in particular.
    pub fn new(level: LoggingLevel, data: impl Into<RawJson>) -> Self {
        Self {
            level,
            data: data.into(),
            logger: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(LoggingMessageNotificationParams {
    required: level = "level", data = "data";
    optional: logger = "logger", meta = "_meta";
    rest: extra
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_admits_itself_and_what_is_worse() {
        let admits = |a: &str, b: &str| LoggingLevel::from(a).admits(&b.into());
        assert!(admits("warning", "warning"));
        assert!(admits("warning", "emergency"));
        assert!(!admits("warning", "notice"));
        assert!(!admits("verbose", "emergency"));
        assert!(!admits("debug", "verbose"));
    }
}
