//! What comes back for a line, as lines.

use std::pin::pin;

use bytes::Bytes;
use http::Response;
use http::header::CONTENT_TYPE;
use http_body::Body;
use std::future::poll_fn;
use sterna_http::{ResponseBody, catch_panic};
use sterna_protocol::cancellation::CancelledNotificationParams;
use sterna_protocol::jsonrpc::{Notification, RequestId};
use sterna_protocol::lines;
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::modern::Answer;

/// A message that is being served.
pub(super) struct Call {
    /// Of a request.
    id: Option<RequestId>,
    listens: bool,
}

/// Serves a message, and writes what comes of it.
pub(super) async fn run(
    call: Call,
    answering: impl Future<Output = Response<ResponseBody>>,
    lines: mpsc::Sender<Vec<u8>>,
) {
    let id = call.id.clone();
    let serving = async {
        let response = answering.await;
        call.pass_on(response, &lines).await;
    };
    if catch_panic(pin!(serving)).await.is_err()
        && let Some(id) = id
    {
        let answer = Answer::failed(Some(&id), &Failure::Internal);
        send(&lines, &answer.into_message()).await;
    }
}

impl Call {
    pub(super) fn new(id: Option<RequestId>, method: &str) -> Self {
        Self {
            id,
            listens: method == "subscriptions/listen",
        }
    }

    /// Writes a response, message by message.
    pub(super) async fn pass_on(
        self,
        response: Response<ResponseBody>,
        lines: &mpsc::Sender<Vec<u8>>,
    ) {
        let (head, body) = response.into_parts();
        let kind = head.headers.get(CONTENT_TYPE);
        let is_stream = kind.is_some_and(|kind| kind == "text/event-stream");
        let mut body = pin!(body);
        while let Some(Ok(frame)) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if is_stream {
                for message in messages(&data) {
                    send(lines, message).await;
                }
            } else {
                send(lines, &data).await;
            }
        }
        if let (true, true, Some(id)) = (is_stream, self.listens, self.id) {
            // CANCEL-S1: it ended without the client having ended it.
            let params = CancelledNotificationParams::new(id);
            let mut message = Vec::new();
            Notification::new("notifications/cancelled", &params)
                .encode(&mut message)
                .expect("wire types have string keys only");
            send(lines, &message).await;
        }
    }
}

/// The messages of a piece of an event stream. Ours has whole events in every
/// piece and one line of data in every event.
fn messages(events: &Bytes) -> impl Iterator<Item = &[u8]> {
    events
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.strip_prefix(b"data: "))
}

async fn send(lines: &mpsc::Sender<Vec<u8>>, message: &[u8]) {
    if message.is_empty() {
        return;
    }
    let mut line = Vec::with_capacity(message.len() + 1);
    let Ok(()) = lines::write(&mut line, |line| {
        line.extend_from_slice(message);
        Ok::<_, std::convert::Infallible>(())
    });
    // Nobody reads any more: the connection is about to end.
    let _ = lines.send(line).await;
}
