//! Answers to a line, as lines.

use std::future::poll_fn;
use std::pin::pin;

use bytes::Bytes;
use http::Response;
use http::header::CONTENT_TYPE;
use http_body::Body;
use sterna_http::{ResponseBody, Transport, catch_panic};
use sterna_protocol::cancellation::CancelledNotificationParams;
use sterna_protocol::jsonrpc::RequestId;
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::reply::Answer;
use crate::sink::{frame, notification};

/// Message that is being served.
pub(super) struct LineCall {
    /// Id of a request; `None` for other messages.
    id: Option<RequestId>,
    /// `true` for `subscriptions/listen`.
    listens: bool,
}

/// Serves a message, and writes its answer.
pub(super) async fn run(
    call: LineCall,
    answering: impl Future<Output = Response<ResponseBody>>,
    lines: mpsc::Sender<Bytes>,
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
        send(&lines, answer.last_of(Transport::Lines)).await;
    }
}

impl LineCall {
    pub(super) fn new(id: Option<RequestId>, listens: bool) -> Self {
        Self { id, listens }
    }

    /// Writes a response, message by message.
    pub(super) async fn pass_on(
        self,
        response: Response<ResponseBody>,
        lines: &mpsc::Sender<Bytes>,
    ) {
        let (head, body) = response.into_parts();
        let kind = head.headers.get(CONTENT_TYPE);
        let is_stream = kind.is_some_and(|kind| kind == "text/event-stream");
        let mut body = pin!(body);
        while let Some(Ok(piece)) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
            let Ok(data) = piece.into_data() else {
                continue;
            };
            // A stream consists of lines already, a document becomes one.
            let data = match is_stream || data.is_empty() {
                true => data,
                false => frame(Transport::Lines, &data).into(),
            };
            send(lines, data).await;
        }
        if let (true, true, Some(id)) = (is_stream, self.listens, self.id) {
            // CANCEL-S1: it ended without the client having ended it.
            let params = CancelledNotificationParams::new(id);
            let message = notification(Transport::Lines, "notifications/cancelled", &params);
            send(lines, message.into()).await;
        }
    }
}

async fn send(lines: &mpsc::Sender<Bytes>, line: Bytes) {
    if !line.is_empty() {
        // The receiver is gone only when the connection is about to end.
        let _ = lines.send(line).await;
    }
}
