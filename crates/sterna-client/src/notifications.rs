//! Notifications of a server, as callers receive them.

use std::fmt;
use std::sync::Arc;

use sterna_protocol::logging::{LoggingLevel, LoggingMessageNotificationParams};
use sterna_protocol::progress::ProgressNotificationParams;
use sterna_protocol::tasks::DetailedTask;

/// Something changed at the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// The list of prompts.
    Prompts,
    /// The stream broke and was opened again: anything may have changed
    /// meanwhile.
    Reopened,
    /// The resource at this address.
    Resource(String),
    /// The list of resources.
    Resources,
    /// A task, as it stands.
    Task(Box<DetailedTask>),
    /// The list of tools.
    Tools,
}

/// Callbacks of the caller for notifications.
#[derive(Clone, Default)]
pub(crate) struct Listeners {
    pub(crate) progress: Option<ProgressSink>,
    pub(crate) log: Option<(LoggingLevel, LogSink)>,
}

pub(crate) type ProgressSink = Arc<dyn Fn(&ProgressNotificationParams) + Send + Sync>;
pub(crate) type LogSink = Arc<dyn Fn(&LoggingMessageNotificationParams) + Send + Sync>;

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listeners")
            .field("progress", &self.progress.is_some())
            .field("log", &self.log.as_ref().map(|(level, _)| level))
            .finish()
    }
}
