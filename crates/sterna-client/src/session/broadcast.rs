//! Notifications of a legacy server, handed to all subscribers of its session.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use sterna_protocol::legacy::{
    LoggingMessage, PromptListChanged, ResourceListChanged, ResourceUpdated, TaskStatusChanged,
    ToolListChanged,
};
use sterna_protocol::logging::{LoggingLevel, LoggingMessageNotificationParams};
use sterna_protocol::methods::NotificationMethod as _;
use sterna_protocol::resource::ResourceUpdatedNotificationParams;
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, broadcast};

use crate::notifications::{Change, LogSink};

/// Hands on notifications that belong to no request.
#[derive(Debug)]
pub(crate) struct Broadcast {
    /// A change, or `None` when nothing more will come.
    changes: broadcast::Sender<Option<Change>>,
    loggers: Mutex<Vec<Weak<Logger>>>,
    /// Wakes those who follow a task.
    tasks: Notify,
}

/// One who wants log messages, for as long as this lives.
pub(crate) struct Logger {
    pub(crate) level: LoggingLevel,
    pub(crate) tell: LogSink,
}

impl Broadcast {
    pub(super) fn new() -> Self {
        Self {
            changes: broadcast::Sender::new(BACKLOG),
            loggers: Mutex::default(),
            tasks: Notify::new(),
        }
    }

    /// Ends when a task changed after this was called.
    pub(crate) fn task_changed(&self) -> Notified<'_> {
        self.tasks.notified()
    }

    /// Subscribes to changes from here on.
    pub(crate) fn changes(&self) -> broadcast::Receiver<Option<Change>> {
        self.changes.subscribe()
    }

    /// Returns true if there are subscribers.
    pub(super) fn has_subscribers(&self) -> bool {
        self.changes.receiver_count() > 0
    }

    pub(super) fn tell(&self, change: impl Into<Option<Change>>) {
        // There may be no subscriber.
        self.changes.send(change.into()).ok();
    }

    pub(super) fn add_logger(&self, level: LoggingLevel, tell: LogSink) -> Arc<Logger> {
        let logger = Arc::new(Logger { level, tell });
        let mut loggers = self.loggers.lock().unwrap_or_else(PoisonError::into_inner);
        loggers.retain(|each| each.strong_count() > 0);
        loggers.push(Arc::downgrade(&logger));
        logger
    }

    /// Handles a notification of either stream.
    pub(crate) fn receive(&self, method: &str, params: Option<&RawValue>) {
        match method {
            LoggingMessage::METHOD => {
                if let Some(message) = read(params) {
                    self.log(&message);
                }
            }
            PromptListChanged::METHOD => self.tell(Change::Prompts),
            ResourceListChanged::METHOD => self.tell(Change::Resources),
            ResourceUpdated::METHOD => {
                if let Some(ResourceUpdatedNotificationParams { uri, .. }) = read(params) {
                    self.tell(Change::Resource(uri));
                }
            }
            // Whose task it is, those who follow one find out by looking.
            TaskStatusChanged::METHOD => self.tasks.notify_waiters(),
            ToolListChanged::METHOD => self.tell(Change::Tools),
            _ => {}
        }
    }

    /// A session does not say which call a message is about, so all hear it.
    fn log(&self, message: &LoggingMessageNotificationParams) {
        let loggers = self.loggers.lock().unwrap_or_else(PoisonError::into_inner);
        let loggers: Vec<_> = loggers.iter().filter_map(Weak::upgrade).collect();
        for logger in loggers {
            if logger.level.admits(&message.level) {
                (logger.tell)(message);
            }
        }
    }
}

impl fmt::Debug for Logger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logger")
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

fn read<T: DeserializeOwned>(params: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(params?.get()).ok()
}

/// Changes that are kept for a slow subscriber.
const BACKLOG: usize = 256;
