//! Messages that are sent without waiting for the outcome, such as the
//! cancellation of a request.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use sterna_protocol::jsonrpc::{Notification, RequestId};
use sterna_protocol::legacy::{Cancelled, CancelledNotificationParams};
use sterna_protocol::methods::NotificationMethod as _;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::open::{OpenSession, Session, lock};
use crate::transport::Outgoing;

/// Messages on their way to the server. They outlive the session for a short
/// time, because a caller that drops a call often drops the client next.
#[derive(Debug, Default)]
pub(super) struct BackgroundSends(Mutex<JoinSet<()>>);

impl BackgroundSends {
    /// Says something, unless too much is being said already.
    pub(super) fn say(&self, saying: impl Future<Output = ()> + Send + 'static) {
        // Without a runtime there is no connection left to say it on.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let bounded = async {
            tokio::time::timeout(LONGEST, saying).await.ok();
        };
        let mut background = lock(&self.0);
        while background.try_join_next().is_some() {}
        if background.len() < MOST {
            background.spawn_on(bounded, &runtime);
        }
    }
}

impl Drop for BackgroundSends {
    fn drop(&mut self) {
        let background = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        background.detach_all();
    }
}

impl Session {
    /// Takes the request `id` back when what this returns is dropped without
    /// having been settled.
    ///
    /// A session outlives its connections, so that closing one says nothing:
    /// the server is told in words. Pipes do that by themselves.
    pub(crate) fn cancel_guard(&self, id: RequestId, opened: &OpenSession) -> CancelGuard<'_> {
        let told = self.wire.transport.has_headers();
        CancelGuard {
            session: self,
            request: told.then(|| (id, opened.headers.clone())),
        }
    }
}

/// A request that is taken back unless it is settled.
pub(crate) struct CancelGuard<'a> {
    session: &'a Session,
    request: Option<(RequestId, HeaderMap)>,
}

impl CancelGuard<'_> {
    /// The server has nothing more to do for the request.
    pub(crate) fn disarm(mut self) {
        self.request = None;
    }
}

impl Drop for CancelGuard<'_> {
    fn drop(&mut self) {
        let Some((id, headers)) = self.request.take() else {
            return;
        };
        let wire = self.session.wire.clone();
        self.session.background.say(async move {
            let notice = Notification::new(Cancelled::METHOD, CancelledNotificationParams::new(id));
            let mut body = Vec::new();
            if notice.encode(&mut body).is_err() {
                return;
            }
            let id = None;
            let message = Outgoing { id, headers, body };
            if let Err(error) = wire.transport.notify_best_effort(message).await {
                tracing::debug!(%error, "the server goes on with a call that was taken back");
            }
        });
    }
}

/// Longest time for one send.
const LONGEST: Duration = Duration::from_secs(10);

/// Largest number of sends at a time; more are dropped.
const MOST: usize = 64;
