//! Sends the progress and the log messages of a handler to the client.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use sterna_flow::{Level, Listener, Progress};
use sterna_protocol::json::Number;
use sterna_protocol::logging::{LoggingLevel, LoggingMessageNotificationParams};
use sterna_protocol::meta::RequestMeta;
use sterna_protocol::progress::{ProgressNotificationParams, ProgressToken};

use sterna_http::{Rate, TokenBucket, clock};

use crate::sink::MessageSink;

/// Puts a handler's progress and log messages onto the response stream of its
/// request, and onto no other (LOG-S3).
#[derive(Debug)]
pub(crate) struct Reporter {
    sink: MessageSink,
    token: Option<ProgressToken>,
    level: Option<LoggingLevel>,
    furthest: Mutex<f64>,
    progresses: TokenBucket,
    logs: TokenBucket,
}

impl Reporter {
    /// A reporter for a request; `None` if the client wants to hear nothing
    /// (PROG-S3, LOG-S2).
    pub(crate) fn new(meta: &RequestMeta, sink: MessageSink) -> Option<Self> {
        if !Self::is_wanted(meta) {
            return None;
        }
        Some(Self {
            sink,
            token: meta.progress_token.clone(),
            level: meta.log_level.clone(),
            furthest: Mutex::new(f64::NEG_INFINITY),
            // Twenty a second: no eye follows more.
            progresses: TokenBucket::new(Rate::new(50, Duration::from_millis(50))),
            // A hundred a second: faster than a person reads.
            logs: TokenBucket::new(Rate::new(500, Duration::from_millis(10))),
        })
    }

    /// Returns `true` if the client wants progress or log messages.
    pub(crate) fn is_wanted(meta: &RequestMeta) -> bool {
        meta.progress_token.is_some() || meta.log_level.is_some()
    }

    /// Sends a log message of another server as it is.
    pub(crate) fn pass_on_log(&self, message: &LoggingMessageNotificationParams) {
        // LOG-S8, LOG-S5
        let least = self.level.as_ref();
        if least.is_some_and(|least| least.admits(&message.level)) && self.logs.take(clock::now()) {
            self.say("notifications/message", message);
        }
    }

    /// A reader that lags behind misses messages: neither progress nor a log is
    /// worth holding up the handler.
    fn say(&self, method: &str, params: &impl Serialize) {
        let _ = self.sink.notify(method, params);
    }
}

impl Listener for Reporter {
    fn progress(&self, progress: Progress) {
        let Some(token) = &self.token else { return };
        let Ok(done) = Number::try_from(progress.done) else {
            return;
        };
        // PROG-S1: progress that does not grow is not sent.
        let mut furthest = self.furthest.lock().unwrap_or_else(PoisonError::into_inner);
        if progress.done <= *furthest {
            return;
        }
        *furthest = progress.done;
        drop(furthest);
        // PROG-B3: what comes too fast is left out, but for the end of the way.
        let arrived = progress.total.is_some_and(|total| progress.done >= total);
        if !arrived && !self.progresses.take(clock::now()) {
            return;
        }
        let mut params = ProgressNotificationParams::new(token.clone(), done);
        params.total = progress.total.and_then(|total| total.try_into().ok());
        params.message = progress.message;
        self.say("notifications/progress", &params);
    }

    fn log(&self, level: Level, message: &str) {
        let level = wire_level(level);
        // LOG-S8
        let least = self.level.as_ref();
        // LOG-S5
        if least.is_some_and(|least| least.admits(&level)) && self.logs.take(clock::now()) {
            let data = Value::from(cut(message));
            let params = LoggingMessageNotificationParams::new(level, data);
            self.say("notifications/message", &params);
        }
    }
}

/// A message of bearable size.
fn cut(message: &str) -> Cow<'_, str> {
    if message.len() <= LONGEST {
        return message.into();
    }
    let end = message.floor_char_boundary(LONGEST);
    format!("{}…", &message[..end]).into()
}

fn wire_level(level: Level) -> LoggingLevel {
    match level {
        Level::Debug => LoggingLevel::Debug,
        Level::Info => LoggingLevel::Info,
        Level::Notice => LoggingLevel::Notice,
        Level::Warning => LoggingLevel::Warning,
        Level::Critical => LoggingLevel::Critical,
        Level::Alert => LoggingLevel::Alert,
        Level::Emergency => LoggingLevel::Emergency,
        // A level that a later flow adds is at least an error.
        _ => LoggingLevel::Error,
    }
}

/// A log message is cut here: a page or two, and a fraction of what a stream
/// may hold.
const LONGEST: usize = 8 << 10;
