//! Listening to what a legacy server says outside of any request.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use sterna_protocol::jsonrpc::Message;
use tokio::sync::oneshot;

use super::servant::Servant;
use crate::call::Pacing;
use crate::config::Config;
use crate::error::ErrorKind;
use crate::listen::Change;
use crate::transport::Exchange;
use crate::wire::{MOST_AT_ONCE, Wire};

/// Answers what comes unasked and hands on what is told, until the server has
/// no such place any more.
///
/// `ready` hears of the first attempt to open the stream: whether there may be
/// one.
pub(super) async fn listen(wire: Arc<Wire>, servant: Servant, ready: oneshot::Sender<bool>) {
    let mut pacing = Pacing::new(&Config::default());
    let mut ready = Some(ready);
    loop {
        let stream = wire.transport.overhear(servant.headers.clone()).await;
        let over = match &stream {
            Ok(stream) => stream.is_none(),
            // A server that does not want to be listened to is left alone.
            Err(error) => error.kind() != ErrorKind::Unavailable,
        };
        match ready.take() {
            Some(ready) => {
                ready.send(!over).ok();
            }
            None if stream.is_ok() && !over => servant.news.tell(Change::Reopened),
            None => {}
        }
        match stream {
            Ok(Some(exchange)) => {
                if attend(&wire, &servant, exchange).await {
                    pacing.reset();
                }
            }
            Err(error) if !over => {
                tracing::debug!(%error, "the server's own stream is not there");
            }
            Ok(None) | Err(_) => break,
        }
        // A pipe that has ended has no second stream; its next life is another session.
        if !wire.transport.has_headers() {
            break;
        }
        tokio::time::sleep(pacing.next()).await;
    }
    servant.news.tell(None);
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
        let request = match Message::raw(&bytes) {
            Ok(Message::Request(request)) => request,
            Ok(Message::Notification(told)) => {
                servant.hear(&told.method, told.params);
                continue;
            }
            _ => continue,
        };
        // A server that asks more than this at once is not asking people.
        if replies.len() >= MOST_AT_ONCE {
            continue;
        }
        let reply = servant.answer(request.id, &request.method, request.params);
        replies.push(async move {
            wire.reply(reply).await;
        });
    }
}
