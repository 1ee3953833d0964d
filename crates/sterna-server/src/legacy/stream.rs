//! The stream a session opens to be told things.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Response, StatusCode};

use super::refuse;
use super::session::Session;
use crate::core::Core;
use crate::edge::{EdgeBody, Events, Inbound, Inbox, reply};

/// Opens the stream of a session. The one it had before ends: every message
/// goes out on one stream.
pub(super) fn open(core: &Arc<Core>, inbound: &Inbound, session: &Session) -> Response<EdgeBody> {
    let Ok(live) = core.desk.live(session.key) else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "Too many sessions");
    };
    let shutdown = inbound.shutdown.clone();
    let (outbox, inbox) = inbound.outbox();
    core.changes.attend(live, outbox);
    reply::listening(Stream {
        opened: false,
        inbox,
        leaving: Box::pin(async move { shutdown.begun().await }),
    })
}

/// An open stream. The connection polls it; dropping it ends it.
struct Stream {
    opened: bool,
    inbox: Inbox,
    leaving: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Events for Stream {
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if !self.opened {
            self.opened = true;
            // Some proxies pass a head on only with the first byte behind it.
            return Poll::Ready(Some(Bytes::from_static(b":\n\n")));
        }
        match self.inbox.poll_event(cx) {
            Poll::Pending => self.leaving.as_mut().poll(cx).map(|()| None),
            event @ Poll::Ready(_) => event,
        }
    }
}
