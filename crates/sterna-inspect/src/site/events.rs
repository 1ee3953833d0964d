//! Changes, told to the script as events.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use sterna_http::{Events, ResponseBody, Shutdown, reply};
use tokio::sync::watch;

/// A stream with an event for every change, or for several at once.
pub(super) fn changes(
    receiver: watch::Receiver<u64>,
    shutdown: Shutdown,
) -> Response<ResponseBody> {
    reply::listening(Changes {
        waiting: wait(receiver, shutdown),
    })
}

struct Changes {
    waiting: Pin<Box<dyn Future<Output = Option<Waited>> + Send>>,
}

/// The parts of a wait, for the next one.
struct Waited(watch::Receiver<u64>, Shutdown);

fn wait(
    mut receiver: watch::Receiver<u64>,
    shutdown: Shutdown,
) -> Pin<Box<dyn Future<Output = Option<Waited>> + Send>> {
    Box::pin(async move {
        tokio::select! {
            () = shutdown.begun() => return None,
            changed = receiver.changed() => changed.ok()?,
        }
        Some(Waited(receiver, shutdown))
    })
}

impl Events for Changes {
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match self.waiting.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Ready(Some(Waited(mut receiver, shutdown))) => {
                let version = *receiver.borrow_and_update();
                self.waiting = wait(receiver, shutdown);
                Poll::Ready(Some(Bytes::from(format!("data: {version}\n\n"))))
            }
        }
    }
}
