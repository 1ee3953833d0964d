//! Messages that go to a client before an answer, in the framing of its
//! transport.

use std::convert::Infallible;

use serde::Serialize;
use sterna_http::{Outbox, PushError, Transport};
use sterna_protocol::jsonrpc::{Notification, Request, RequestId};
use sterna_protocol::lines;
use sterna_protocol::sse::Frame;

/// Queue of messages for one client: events of a stream, or lines.
#[derive(Clone, Debug)]
pub(crate) struct MessageSink {
    outbox: Outbox,
    transport: Transport,
}

impl MessageSink {
    pub(crate) fn new(outbox: Outbox, transport: Transport) -> Self {
        Self { outbox, transport }
    }

    /// Queues a notification.
    ///
    /// # Errors
    ///
    /// The client lags behind, or is gone.
    pub(crate) fn notify(&self, method: &str, params: &impl Serialize) -> Result<(), PushError> {
        let message = notification(self.transport, method, params);
        self.outbox.push(message.into())
    }

    /// Queues a request of the server.
    ///
    /// # Errors
    ///
    /// The client lags behind, or is gone.
    pub(crate) fn request(
        &self,
        id: RequestId,
        method: &str,
        params: Option<impl Serialize>,
    ) -> Result<(), PushError> {
        let request = Request::new(id, method, params);
        let message = framed(self.transport, |text| request.encode(text));
        let message = message.expect("wire types have string keys only");
        self.outbox.push(message.into())
    }

    /// Ends the queue: messages in it are still delivered, later ones are not.
    pub(crate) fn finish(&self) {
        self.outbox.finish();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.outbox.is_closed()
    }
}

/// Writes a notification in the framing of `transport`.
pub(crate) fn notification(transport: Transport, method: &str, params: &impl Serialize) -> Vec<u8> {
    let message = Notification::new(method, params);
    framed(transport, |text| message.encode(text)).expect("wire types have string keys only")
}

/// Puts a message that is written already into the framing of `transport`.
pub(crate) fn frame(transport: Transport, message: &[u8]) -> Vec<u8> {
    let framed = framed(transport, |text| {
        text.extend_from_slice(message);
        Ok::<_, Infallible>(())
    });
    match framed {
        Ok(framed) => framed,
    }
}

fn framed<E>(
    transport: Transport,
    message: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<Vec<u8>, E> {
    let mut framed = Vec::with_capacity(256);
    match transport {
        Transport::Lines => lines::write(&mut framed, message)?,
        _ => Frame::new().write(&mut framed, message)?,
    }
    Ok(framed)
}
