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
use crate::transport::Outgoing;
use crate::wire::Ears;

/// What the caller wants to hear.
#[derive(Clone, Default)]
pub(crate) struct Listeners {
    pub(crate) progress: Option<Arc<dyn Fn(&ProgressNotificationParams) + Send + Sync>>,
    pub(crate) log: Option<(LoggingLevel, LogSink)>,
}

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
}

impl Ears for Hearing<'_> {
    fn hear(&self, method: &str, params: Option<&RawValue>) -> bool {
        let Some(params) = params else {
            return false;
        };
        match method {
            methods::Progress::METHOD => {
                let progress: Option<ProgressNotificationParams> =
                    serde_json::from_str(params.get()).ok();
                let ours = progress.filter(|progress| progress.progress_token == self.token);
                if let (Some(progress), Some(tell)) = (&ours, &self.listeners.progress) {
                    tell(progress);
                }
                ours.is_some()
            }
            methods::LoggingMessage::METHOD => {
                if let Some((_, tell)) = &self.listeners.log
                    && let Ok(message) = serde_json::from_str(params.get())
                {
                    tell(&message);
                }
                false
            }
            _ => false,
        }
    }

    fn answer(
        &self,
        _: RequestId,
        _: &str,
        _: Option<&RawValue>,
    ) -> Option<BoxFuture<'_, Outgoing>> {
        None
    }
}
