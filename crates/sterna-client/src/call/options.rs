//! Options of a call, when it is made and when it is resumed.

use std::sync::Arc;
use std::time::Duration;

use sterna_protocol::logging::{LoggingLevel, LoggingMessageNotificationParams};
use sterna_protocol::progress::ProgressNotificationParams;
use tokio::sync::watch;

use super::budget::Budget;
use crate::config::Config;
use crate::error::{Error, Fault};
use crate::notifications::Listeners;

/// Options for the rounds of a call: the notifications that the caller wants,
/// and the limits of time and rounds.
///
/// [`Call::options`](crate::Call::options) and
/// [`Resume::options`](crate::Resume::options) take the same value. A limit that
/// is not set is that of the client's [`Config`](crate::Config).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use sterna_client::CallOptions;
///
/// let options = CallOptions::new()
///     .on_progress(|progress| println!("{:?}", progress.message))
///     .deadline(Duration::from_secs(120));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct CallOptions {
    pub(super) listeners: Listeners,
    timeout: Option<Duration>,
    deadline: Option<Duration>,
    max_rounds: Option<u32>,
    pub(super) session_questions: SessionQuestions,
}

/// Treatment of the questions of a server with sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SessionQuestions {
    /// The handlers answer it, and the call goes on.
    Handle,
    /// The call pauses, with its connection open.
    Hold,
    /// The call pauses, detached if the server can resume it.
    #[default]
    Pause,
}

impl CallOptions {
    /// Creates options without notifications, with the limits of the client.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests progress notifications.
    pub fn on_progress(
        mut self,
        tell: impl Fn(&ProgressNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.listeners.progress = Some(Arc::new(tell));
        self
    }

    /// Requests log messages about the call, from `level` up.
    pub fn on_log(
        mut self,
        level: LoggingLevel,
        tell: impl Fn(&LoggingMessageNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.listeners.log = Some((level, Arc::new(tell)));
        self
    }

    /// Limits the time without a sign of the server in one round.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Limits the time of all rounds together. The time that people take to
    /// answer is not counted, nor are rounds before a call is resumed.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Limits how often the call is sent again, counted from its beginning.
    pub fn max_rounds(mut self, rounds: u32) -> Self {
        self.max_rounds = Some(rounds);
        self
    }

    /// Keeps the connection of a call that pauses at a question of a server with
    /// sessions, although the server could resume the call without it: for servers
    /// that take a closed connection for a cancellation.
    pub fn hold(mut self) -> Self {
        self.session_questions = SessionQuestions::Hold;
        self
    }

    /// Has the handlers answer the questions of a server with sessions, in the
    /// middle of the call, also where [`Call::start`](crate::Call::start) would
    /// pause it.
    pub fn handle_session_questions(mut self) -> Self {
        self.session_questions = SessionQuestions::Handle;
        self
    }

    pub(super) fn limits(&self, config: &Config) -> Limits {
        Limits {
            timeout: self.timeout.unwrap_or(config.timeout),
            deadline: self.deadline.unwrap_or(config.deadline),
            rounds: self.max_rounds.unwrap_or(config.max_rounds),
        }
    }
}

/// Limits of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    timeout: Duration,
    deadline: Duration,
    rounds: u32,
}

impl Limits {
    pub(super) fn budget(&self) -> Budget {
        Budget::new(self.deadline, self.timeout)
    }

    /// Checks that a call that was sent again `rounds` times may be sent once
    /// more.
    pub(super) fn admit(&self, rounds: u32) -> Result<(), Error> {
        let limit = self.rounds;
        match rounds < limit {
            true => Ok(()),
            false => Err(Fault::Rounds { limit }.into()),
        }
    }
}

/// Cancels a call from elsewhere; see [`Call::handle`](super::Call::handle).
#[derive(Clone, Debug)]
pub struct CancelHandle(watch::Sender<bool>);

impl CancelHandle {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Cancels the call at any point. A call that has ended is not changed.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    pub(super) fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    pub(super) async fn cancelled(&self) {
        let mut receiver = self.0.subscribe();
        // The sender lives as long as this borrow, so waiting cannot fail.
        receiver.wait_for(|cancelled| *cancelled).await.ok();
    }
}
