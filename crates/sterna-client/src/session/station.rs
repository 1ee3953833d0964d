//! Listening to what a legacy server says outside of any request.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use sterna_protocol::jsonrpc::Message;
use tokio::sync::oneshot;

use super::servant::Servant;
use crate::call::Pacing;
use crate::error::ErrorKind;
use crate::transport::Exchange;
use crate::wire::Wire;

/// Answers what comes unasked, until the server has no such place any more.
///
/// `ready` hears of the first attempt to open the stream, however it ended.
pub(super) async fn listen(wire: Arc<Wire>, servant: Servant, ready: oneshot::Sender<()>) {
    let mut pacing = Pacing::default();
    let mut ready = Some(ready);
    loop {
        let stream = wire.transport.overhear(servant.headers.clone()).await;
        if let Some(ready) = ready.take() {
            ready.send(()).ok();
        }
        match stream {
            Ok(Some(exchange)) => {
                if attend(&wire, &servant, exchange).await {
                    pacing.reset();
                }
            }
            Ok(None) => return,
            // A server that does not want to be listened to is left alone.
            Err(error) if error.kind() != ErrorKind::Unavailable => return,
            Err(error) => tracing::debug!(%error, "the server's own stream is not there"),
        }
        tokio::time::sleep(pacing.next()).await;
    }
}

/// Follows one stream; whether anything came.
async fn attend(wire: &Wire, servant: &Servant, mut exchange: Exchange) -> bool {
    let mut replies = FuturesUnordered::new();
    let mut heard = false;
    loop {
        let bytes = tokio::select! {
            Some(()) = replies.next(), if !replies.is_empty() => continue,
            next = exchange.next() => match next {
                Ok(Some(bytes)) => bytes,
                Ok(None) | Err(_) => return heard,
            },
        };
        heard = true;
        let Ok(Message::Request(request)) = Message::raw(&bytes) else {
            continue;
        };
        // A server that asks more than this at once is not asking people.
        if replies.len() >= MOST_AT_ONCE {
            continue;
        }
        let reply = servant.answer(request.id, &request.method, request.params);
        replies.push(async move {
            if let Err(error) = wire.deliver(reply.await).await {
                tracing::warn!(%error, "an answer did not reach the server");
            }
        });
    }
}

const MOST_AT_ONCE: usize = 64;
