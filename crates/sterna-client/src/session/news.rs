//! What a legacy server tells everybody in its session.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use sterna_protocol::legacy::{
    LoggingMessage, PromptListChanged, ResourceListChanged, ResourceUpdated, TaskStatusChanged,
    ToolListChanged,
};
use sterna_protocol::logging::{LoggingLevel, LoggingMessageNotificationParams};
use sterna_protocol::methods::Notification as _;
use sterna_protocol::resource::ResourceUpdatedNotificationParams;
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, broadcast};

use crate::call::LogSink;
use crate::listen::Change;

/// Hands on what belongs to no request.
#[derive(Debug)]
pub(crate) struct News {
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

impl News {
    pub(super) fn new() -> Self {
        Self {
            changes: broadcast::Sender::new(BACKLOG),
            loggers: Mutex::default(),
            tasks: Notify::new(),
        }
    }

    /// Ends when a task changed after this was called.
    pub(crate) fn task_told(&self) -> Notified<'_> {
        self.tasks.notified()
    }

    /// What changes from here on.
    pub(crate) fn changes(&self) -> broadcast::Receiver<Option<Change>> {
        self.changes.subscribe()
    }

    /// Whether anybody wants to hear of changes.
    pub(super) fn is_wanted(&self) -> bool {
        self.changes.receiver_count() > 0
    }

    pub(super) fn tell(&self, change: impl Into<Option<Change>>) {
        // Nobody may be listening.
        self.changes.send(change.into()).ok();
    }

    pub(super) fn log_to(&self, level: LoggingLevel, tell: LogSink) -> Arc<Logger> {
        let logger = Arc::new(Logger { level, tell });
        let mut loggers = self.loggers.lock().unwrap_or_else(PoisonError::into_inner);
        loggers.retain(|each| each.strong_count() > 0);
        loggers.push(Arc::downgrade(&logger));
        logger
    }

    /// Hears a notification, whichever way it came.
    pub(crate) fn hear(&self, method: &str, params: Option<&RawValue>) {
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

/// How many changes may wait for one who does not listen.
const BACKLOG: usize = 256;
