//! Stream of a session for notifications.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Response, StatusCode};
use sterna_http::{
    Events, Inbound, Inbox, Part, Refusal, Reservation, ResponseBody, Transport, reply,
};

use super::session::Session;
use super::{ended, refuse};
use crate::changes::Subscription;
use crate::core::Core;
use crate::sink::MessageSink;

/// Opens the stream of a session. The one it had before ends: every message
/// goes out on one stream.
pub(crate) fn open(
    core: &Arc<Core>,
    inbound: &Inbound,
    session: &Session,
) -> Response<ResponseBody> {
    let Ok(live) = core.session_table.live(session.key) else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "Too many sessions");
    };
    let shutdown = inbound.shutdown.clone();
    let Some(hold) = inbound.memory.take(Part::Subscriptions, LISTENER) else {
        return crate::reply::refuse(Refusal::Busy);
    };
    let (outbox, inbox) = inbound.lasting_outbox();
    let sink = MessageSink::new(outbox, inbound.transport);
    live.listen(sink.clone());
    let subscription = core
        .environment
        .changes
        .attend(live, inbound.admission.clone(), sink);
    let ended = ended::until_recorded(Arc::clone(core), session.key);
    reply::listening(Stream {
        // A line needs no head that a proxy would hold back.
        opened: inbound.transport == Transport::Lines,
        inbox,
        leaving: Box::pin(async move {
            tokio::select! {
                () = shutdown.begun() => {}
                () = ended => {}
            }
        }),
        _subscription: subscription,
        _hold: hold,
    })
}

/// Memory of an open stream, roughly.
const LISTENER: usize = 1 << 10;

/// An open stream. The connection polls it; dropping it ends it.
struct Stream {
    opened: bool,
    inbox: Inbox,
    /// Done when the server goes away, or the session was ended elsewhere.
    leaving: Pin<Box<dyn Future<Output = ()> + Send>>,
    _subscription: Subscription,
    _hold: Reservation,
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
