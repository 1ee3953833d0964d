//! Logging: messages from a server to the client (deprecated in 2026-07-28).

use crate::json::{OtherName, RawJson};
use crate::notification::NotificationMeta;

/// Severity of a log message, as in RFC 5424.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoggingLevel {
    /// Details for debugging.
    Debug,
    /// Normal operation.
    Info,
    /// Normal, but significant.
    Notice,
    /// A condition that may lead to an error.
    Warning,
    /// An error.
    Error,
    /// A critical error, such as a failed component.
    Critical,
    /// A condition that needs immediate action.
    Alert,
    /// The system is unusable.
    Emergency,
    /// Level that this revision does not define.
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
    /// Returns true if a client that asked for the level `self` gets a message
    /// of `level`.
    ///
    /// False if either level is not defined: it has no place in the order.
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

wire! {
    /// Parameters of `notifications/message`.
    pub struct LoggingMessageNotificationParams {
        required {
            /// Severity.
            level: LoggingLevel = "level",
            /// Message: text or any other JSON.
            data: RawJson = "data",
        }
        optional {
            /// Name of the part of the server that logs.
            logger: Option<String> = "logger",
            /// Notification metadata (`_meta`).
            meta: Option<NotificationMeta> = "_meta",
        }
    }

    /// Creates a message without a logger name.
    new(level: LoggingLevel, data: impl Into<RawJson>);
}

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
