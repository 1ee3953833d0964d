//! Handler of the messages before a call's response: progress, log messages
//! and, from earlier revisions, questions.

use futures::future::BoxFuture;
use serde_json::value::RawValue;
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::logging::{LoggingLevel, LoggingMessageNotificationParams};
use sterna_protocol::methods::{self, NotificationMethod as _};
use sterna_protocol::progress::{ProgressNotificationParams, ProgressToken};

use crate::notifications::Listeners;
use crate::session::ServerRequests;
use crate::transport::Outgoing;
use crate::wire::MessageHandler;

/// Message handler of one request.
pub(crate) struct CallHandler<'a> {
    pub(crate) listeners: &'a Listeners,
    /// Under which this request, and no other, hears of its progress.
    pub(crate) token: ProgressToken,
    /// Answers requests that the server sends during the call. `None` for modern
    /// servers, which must not send any.
    pub(crate) server_requests: Option<ServerRequests>,
}

impl CallHandler<'_> {
    /// A session has one level for all, which may let through more than this
    /// call wants.
    fn wants(&self, level: &LoggingLevel, message: &LoggingMessageNotificationParams) -> bool {
        self.server_requests.is_none() || level.admits(&message.level)
    }
}

impl MessageHandler for CallHandler<'_> {
    fn on_notification(&self, method: &str, params: Option<&RawValue>) -> bool {
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
                if let Some(server_requests) = &self.server_requests {
                    server_requests.on_notification(method, params);
                }
                false
            }
        }
    }

    fn is_waiting_for_user(&self) -> bool {
        self.server_requests
            .as_ref()
            .is_some_and(ServerRequests::is_waiting_for_user)
    }

    fn on_request(
        &self,
        id: RequestId,
        method: &str,
        params: Option<&RawValue>,
    ) -> Option<BoxFuture<'_, Option<Outgoing>>> {
        // STDIO-C3: a modern server gets no responses.
        let server_requests = self.server_requests.as_ref()?;
        Some(server_requests.answer(id, method, params))
    }
}
