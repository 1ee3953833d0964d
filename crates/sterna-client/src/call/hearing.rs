//! What a call hears before its answer: progress, log messages and, from
//! earlier revisions, questions.

use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::logging::{LoggingLevel, LoggingMessageNotificationParams};
use sterna_protocol::methods::{self, Notification as _};
use sterna_protocol::progress::{ProgressNotificationParams, ProgressToken};

use crate::oauth::BoxFuture;
use crate::session::Servant;
use crate::transport::Outgoing;
use crate::wire::Ears;

/// What the caller wants to hear.
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

/// The ears of one request.
pub(crate) struct Hearing<'a> {
    pub(crate) listeners: &'a Listeners,
    /// Under which this request, and no other, hears of its progress.
    pub(crate) token: ProgressToken,
    /// Answers what the server asks in between; there is none for modern
    /// servers, which must not.
    pub(crate) servant: Option<Servant>,
}

impl Hearing<'_> {
    /// A session has one level for all, which may let through more than this
    /// call wants.
    fn wants(&self, level: &LoggingLevel, message: &LoggingMessageNotificationParams) -> bool {
        self.servant.is_none() || level.admits(&message.level)
    }
}

impl Ears for Hearing<'_> {
    fn hear(&self, method: &str, params: Option<&RawValue>) -> bool {
        match (method, params) {
            (methods::Progress::METHOD, Some(params)) => {
                let progress: Option<ProgressNotificationParams> =
                    serde_json::from_str(params.get()).ok();
                let ours = progress.filter(|progress| progress.progress_token == self.token);
                if let (Some(progress), Some(tell)) = (&ours, &self.listeners.progress) {
                    tell(progress);
                }
                ours.is_some()
            }
            (methods::LoggingMessage::METHOD, Some(params)) => {
                if let Some((level, tell)) = &self.listeners.log
                    && let Ok(message) = serde_json::from_str(params.get())
                    && self.wants(level, &message)
                {
                    tell(&message);
                }
                false
            }
            _ => {
                if let Some(servant) = &self.servant {
                    servant.hear(method, params);
                }
                false
            }
        }
    }

    fn is_asking(&self) -> bool {
        self.servant.as_ref().is_some_and(Servant::is_asking)
    }

    fn answer(
        &self,
        id: RequestId,
        method: &str,
        params: Option<&RawValue>,
    ) -> Option<BoxFuture<'_, Option<Outgoing>>> {
        // STDIO-C3: a modern server gets no responses.
        let servant = self.servant.as_ref()?;
        Some(servant.answer(id, method, params))
    }
}
