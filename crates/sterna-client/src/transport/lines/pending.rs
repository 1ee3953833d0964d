//! Requests that wait for their responses, by id.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde::Deserialize;
use sterna_protocol::cancellation::CancelledNotificationParams;
use sterna_protocol::jsonrpc::{Message, Notification, RequestId};
use sterna_protocol::lines;
use sterna_protocol::methods::{self, NotificationMethod as _};
use tokio::sync::{mpsc, oneshot};

use super::super::Source;
use super::{BACKLOG, lock};
use crate::error::{Error, Fault};

/// Table of requests that wait for their responses.
#[derive(Debug)]
pub(super) struct PendingRequests {
    /// Gone once we have hung up.
    outbox: Mutex<Option<mpsc::Sender<Vec<u8>>>>,
    /// Gone once the server has.
    waiting: Mutex<Option<HashMap<RequestId, Slot>>>,
}

#[derive(Debug)]
struct Slot {
    notices: mpsc::Sender<Vec<u8>>,
    answer: oneshot::Sender<Vec<u8>>,
}

impl PendingRequests {
    pub(super) fn new(outbox: mpsc::Sender<Vec<u8>>) -> Self {
        Self {
            outbox: Mutex::new(Some(outbox)),
            waiting: Mutex::new(Some(HashMap::new())),
        }
    }

    /// Returns true once the connection is closed.
    pub(super) fn is_closed(&self) -> bool {
        lock(&self.waiting).is_none()
    }

    /// Fails all waiting requests.
    pub(super) fn close(&self) {
        lock(&self.waiting).take();
    }

    /// Sends nothing more.
    pub(super) fn disconnect(&self) {
        lock(&self.outbox).take();
    }

    pub(super) fn wait_for(self: &Arc<Self>, id: RequestId) -> Result<PendingRequest, Error> {
        let (notices, heard) = mpsc::channel(BACKLOG);
        let (answer, answered) = oneshot::channel();
        let mut waiting = lock(&self.waiting);
        let slots = waiting.as_mut().ok_or(Fault::Closed)?;
        slots.insert(id.clone(), Slot { notices, answer });
        Ok(PendingRequest {
            pending: self.clone(),
            id,
            heard,
            answered: Some(answered),
        })
    }

    pub(super) async fn send(&self, mut body: Vec<u8>) -> Result<(), Error> {
        let outbox = lock(&self.outbox).clone().ok_or(Fault::Closed)?;
        let mut line = Vec::with_capacity(body.len() + 1);
        let write = |line: &mut Vec<u8>| {
            line.append(&mut body);
            Ok::<(), Error>(())
        };
        lines::write(&mut line, write)?;
        outbox.send(line).await.map_err(|_| Fault::Closed.into())
    }

    /// Hands a line to its request, other lines to the stream of the server.
    pub(super) fn deliver(&self, line: &[u8], unasked: &mpsc::Sender<Vec<u8>>) {
        let mut waiting = lock(&self.waiting);
        let Some(slots) = waiting.as_mut() else {
            return;
        };
        let answered = match Message::raw(line) {
            Ok(Message::Result(response)) => Some(response.id),
            Ok(Message::Error(response)) => response.id,
            Ok(Message::Notification(notification)) => {
                let about = notification.params.and_then(|params| about(params.get()));
                let slot = match about {
                    Some(id) => slots.get(&id),
                    // STDIO-C4: with one waiting request, the notification belongs to it.
                    None if slots.len() == 1 => slots.values().next(),
                    None => None,
                };
                let sink = slot.map_or(unasked, |slot| &slot.notices);
                // A slow reader misses messages, but does not block others.
                sink.try_send(line.to_vec()).ok();
                return;
            }
            Ok(Message::Request(_)) => {
                unasked.try_send(line.to_vec()).ok();
                return;
            }
            // An answer that cannot be read is still the only one that will come.
            Err(error) => error.response_id().cloned(),
        };
        // CANCEL-C8: an answer without a waiting request is dropped.
        if let Some(slot) = answered.and_then(|id| slots.remove(&id)) {
            slot.answer.send(line.to_vec()).ok();
        }
    }
}

/// Reads the id of the request that a notification belongs to.
fn about(params: &str) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "progressToken")]
        progress_token: Option<RequestId>,
        #[serde(rename = "_meta")]
        meta: Option<ParamsMeta>,
    }
    #[derive(Deserialize)]
    struct ParamsMeta {
        #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
        subscription_id: Option<RequestId>,
    }
    let params: Params = serde_json::from_str(params).ok()?;
    let subscription = params.meta.and_then(|meta| meta.subscription_id);
    subscription.or(params.progress_token)
}

/// A request whose answer has not come.
pub(super) struct PendingRequest {
    pending: Arc<PendingRequests>,
    id: RequestId,
    heard: mpsc::Receiver<Vec<u8>>,
    answered: Option<oneshot::Receiver<Vec<u8>>>,
}

impl Source for PendingRequest {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async {
            let Some(answered) = &mut self.answered else {
                return Ok(None);
            };
            let answer = tokio::select! {
                biased;
                Some(notice) = self.heard.recv() => return Ok(Some(notice)),
                answer = answered => answer,
            };
            self.answered = None;
            answer.map(Some).map_err(|_| Fault::Closed.into())
        })
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        let forgotten = lock(&self.pending.waiting)
            .as_mut()
            .and_then(|slots| slots.remove(&self.id));
        // CANCEL-C7: only what is still being worked on is taken back.
        if forgotten.is_none() {
            return;
        }
        let params = CancelledNotificationParams::new(self.id.clone());
        let notice = Notification::new(methods::Cancelled::METHOD, params);
        let mut line = Vec::new();
        if lines::write(&mut line, |line| notice.encode(line)).is_ok()
            && let Some(outbox) = &*lock(&self.pending.outbox)
        {
            // CANCEL-C2: without a stream of its own, a request is cancelled in words.
            outbox.try_send(line).ok();
        }
    }
}
