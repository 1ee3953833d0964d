//! The stream of a legacy server for messages outside of any request.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use sterna_protocol::jsonrpc::Message;
use tokio::sync::oneshot;

use super::server_requests::ServerRequests;
use crate::config::Backoff;
use crate::config::Config;
use crate::error::ErrorKind;
use crate::notifications::Change;
use crate::transport::Exchange;
use crate::wire::{MOST_AT_ONCE, Wire};

/// Answers what comes unasked and hands on what is told, until the server has
/// no such stream any more.
///
/// `ready` hears of the first attempt to open the stream: whether there may be
/// one.
pub(super) async fn listen(
    wire: Arc<Wire>,
    server_requests: ServerRequests,
    ready: oneshot::Sender<bool>,
) {
    let mut backoff = Backoff::new(&Config::default());
    let mut ready = Some(ready);
    loop {
        let stream = wire
            .transport
            .open_server_stream(server_requests.headers.clone())
            .await;
        let over = match &stream {
            Ok(stream) => stream.is_none(),
            // A server that does not want to be listened to is left alone.
            Err(error) => error.kind() != ErrorKind::Unavailable,
        };
        match ready.take() {
            Some(ready) => {
                ready.send(!over).ok();
            }
            None if stream.is_ok() && !over => server_requests.broadcast.tell(Change::Reopened),
            None => {}
        }
        match stream {
            Ok(Some(exchange)) => {
                if follow(&wire, &server_requests, exchange).await {
                    backoff.reset();
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
        tokio::time::sleep(backoff.next()).await;
    }
    server_requests.broadcast.tell(None);
}

/// Follows one stream; whether anything came.
async fn follow(wire: &Wire, server_requests: &ServerRequests, mut exchange: Exchange) -> bool {
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
                server_requests.on_notification(&told.method, told.params);
                continue;
            }
            _ => continue,
        };
        if server_requests.relay(&request.id, &request.method, request.params) {
            continue;
        }
        // A server that asks more than this at once is not asking people.
        if replies.len() >= MOST_AT_ONCE {
            continue;
        }
        let reply = server_requests.answer(request.id, &request.method, request.params);
        replies.push(async move {
            wire.reply(reply).await;
        });
    }
}
