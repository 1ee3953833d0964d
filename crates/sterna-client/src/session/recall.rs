//! Taking back what was asked in a session over HTTP.

use http::HeaderMap;
use sterna_protocol::jsonrpc::{Notification, RequestId};
use sterna_protocol::legacy::{Cancelled, CancelledNotificationParams};
use sterna_protocol::methods::Notification as _;

use super::open::{Opened, Session};
use crate::transport::Outgoing;

impl Session {
    /// Takes the request `id` back when what this returns is dropped without
    /// having been settled.
    ///
    /// A session outlives its connections, so that closing one says nothing:
    /// the server is told in words. Pipes do that by themselves.
    pub(crate) fn recall(&self, id: RequestId, opened: &Opened) -> Recall<'_> {
        let told = self.wire.transport.has_headers();
        Recall {
            session: self,
            request: told.then(|| (id, opened.headers.clone())),
        }
    }
}

/// A request that is taken back unless it is settled.
pub(crate) struct Recall<'a> {
    session: &'a Session,
    request: Option<(RequestId, HeaderMap)>,
}

impl Recall<'_> {
    /// The server has nothing more to do for the request.
    pub(crate) fn settle(mut self) {
        self.request = None;
    }
}

impl Drop for Recall<'_> {
    fn drop(&mut self) {
        let Some((id, headers)) = self.request.take() else {
            return;
        };
        let wire = self.session.wire.clone();
        self.session.asides.say(async move {
            let notice = Notification::new(Cancelled::METHOD, CancelledNotificationParams::new(id));
            let mut body = Vec::new();
            if notice.encode(&mut body).is_err() {
                return;
            }
            let id = None;
            let message = Outgoing { id, headers, body };
            if let Err(error) = wire.transport.hint(message).await {
                tracing::debug!(%error, "the server goes on with a call that was taken back");
            }
        });
    }
}
