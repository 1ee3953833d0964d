//! Messages that are sent without waiting for the outcome, such as the
//! cancellation of a request.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use sterna_protocol::jsonrpc::{Notification, RequestId};
use sterna_protocol::legacy::{Cancelled, CancelledNotificationParams};
use sterna_protocol::methods::NotificationMethod as _;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::open::{Session, lock};
use crate::error::{Error, Fault};
use crate::transport::Outgoing;
use crate::wire::Wire;

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
    pub(crate) fn cancel_guard(&self, id: RequestId, headers: &HeaderMap) -> CancelGuard {
        let told = self.wire.transport.has_headers();
        CancelGuard {
            wire: self.wire.clone(),
            background: self.background.clone(),
            request: told.then(|| (id, headers.clone())),
        }
    }
}

/// A request that is taken back unless it is settled.
pub(crate) struct CancelGuard {
    wire: Arc<Wire>,
    background: Arc<BackgroundSends>,
    request: Option<(RequestId, HeaderMap)>,
}

impl CancelGuard {
    /// Takes the request back if the server may still be working after `error`.
    pub(crate) fn settle(self, error: &Error) {
        if !is_unanswered(error) {
            self.disarm();
        }
    }

    /// The server has nothing more to do for the request.
    pub(crate) fn disarm(mut self) {
        self.request = None;
    }
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        let Some((id, headers)) = self.request.take() else {
            return;
        };
        let wire = self.wire.clone();
        self.background.say(async move {
            let Some(message) = cancellation(id, headers) else {
                return;
            };
            if let Err(error) = wire.transport.notify_best_effort(message).await {
                tracing::debug!(%error, "the server goes on with a call that was taken back");
            }
        });
    }
}

/// CANCEL-C4, CANCEL-C7: returns true if the server may still be working.
pub(crate) fn is_unanswered(error: &Error) -> bool {
    matches!(
        error.fault(),
        Fault::Closed
            | Fault::Died { .. }
            | Fault::Timeout(_)
            | Fault::TooLarge { .. }
            | Fault::TooMany { .. }
    )
}

/// The notification that the request `id` is taken back.
pub(crate) fn cancellation(id: RequestId, headers: HeaderMap) -> Option<Outgoing> {
    let notice = Notification::new(Cancelled::METHOD, CancelledNotificationParams::new(id));
    let mut body = Vec::new();
    notice.encode(&mut body).ok()?;
    let id = None;
    Some(Outgoing { id, headers, body })
}

/// Longest time for one send.
const LONGEST: Duration = Duration::from_secs(10);

/// Largest number of sends at a time; more are dropped.
const MOST: usize = 64;
