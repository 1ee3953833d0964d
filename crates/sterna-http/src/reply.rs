//! The shapes of an answer.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use tokio::time::Sleep;

use super::body::Events;
use super::body::ResponseBody;
use super::outbox::Inbox;

/// A JSON document.
pub fn json(status: StatusCode, document: impl Into<Bytes>) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(document));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// `202 Accepted`, the answer to a notification.
#[must_use]
pub fn accepted() -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// An event stream that is the rest of a call: see [`ResponseBody::events`].
pub fn events(events: impl Events) -> Response<ResponseBody> {
    stream(ResponseBody::events(events))
}

/// An event stream that waits for things to happen: see [`ResponseBody::listening`].
pub fn listening(events: impl Events) -> Response<ResponseBody> {
    stream(ResponseBody::listening(events))
}

fn stream(body: ResponseBody) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    let events = HeaderValue::from_static("text/event-stream");
    headers.insert(CONTENT_TYPE, events);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // HTTP-S10: tells nginx, and those who learned from it, to pass every event on at once.
    headers.insert(ACCEL, HeaderValue::from_static("no"));
    response
}

/// Runs a call and gives its answer the shape it needs.
///
/// A call that ends without having said anything is answered by `plain`. One
/// that puts something into the outbox of `inbox`, if it has one, or takes longer than
/// `patience`, becomes an event stream that owns the call, and `last` frames
/// its result as the last event. A stream carries keep-alive comments, which is
/// what a slow call needs to get past proxies.
///
/// # Cancel safety
///
/// Dropping the future, or later the answer's body, drops the call.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use std::time::Duration;
/// use http::StatusCode;
/// use sterna_http::{outbox, reply};
///
/// let (progress, inbox) = outbox(1 << 16);
/// let call = Box::pin(async move {
///     progress.push("data: \"half\"\n\n".into()).ok();
///     7
/// });
/// let answer = reply::respond_or_stream(
///     call,
///     inbox,
///     Duration::from_secs(10),
///     |sum| reply::json(StatusCode::OK, sum.to_string()),
///     |sum| format!("data: {sum}\n\n").into(),
/// )
/// .await;
/// assert_eq!(answer.headers()["content-type"], "text/event-stream");
/// # }
/// ```
pub async fn respond_or_stream<F>(
    mut call: Pin<Box<F>>,
    inbox: impl Into<Option<Inbox>>,
    patience: Duration,
    plain: impl FnOnce(F::Output) -> Response<ResponseBody> + Send,
    last: impl FnOnce(F::Output) -> Bytes + Send + 'static,
) -> Response<ResponseBody>
where
    F: Future<Output: Send> + Send + ?Sized + 'static,
{
    let inbox = inbox.into();
    let mut timer = pin!(None::<Sleep>);
    let first = poll_fn(|cx| {
        if let Poll::Ready(result) = call.as_mut().poll(cx) {
            return Poll::Ready(First::Result(result));
        }
        if let Some(event) = poll_inbox(inbox.as_ref(), cx) {
            return Poll::Ready(First::Event(Some(event)));
        }
        if timer.is_none() {
            timer.set(Some(tokio::time::sleep(patience)));
        }
        let over = timer.as_mut().as_pin_mut();
        match over.is_some_and(|timer| timer.poll(cx).is_ready()) {
            true => Poll::Ready(First::Event(None)),
            false => Poll::Pending,
        }
    })
    .await;
    match first {
        First::Result(result) if inbox.as_ref().is_none_or(Inbox::is_empty) => plain(result),
        First::Result(result) => events(StreamingCall::<F, _> {
            call: None,
            result: Some(result),
            event: None,
            inbox,
            last: Some(last),
        }),
        First::Event(event) => events(StreamingCall {
            call: Some(call),
            result: None,
            event,
            inbox,
            last: Some(last),
        }),
    }
}

enum First<T> {
    Event(Option<Bytes>),
    Result(T),
}

/// A call that has begun to speak.
struct StreamingCall<F: Future + ?Sized, L> {
    call: Option<Pin<Box<F>>>,
    result: Option<F::Output>,
    event: Option<Bytes>,
    inbox: Option<Inbox>,
    last: Option<L>,
}

/// The next event that has not been read.
fn poll_inbox(inbox: Option<&Inbox>, cx: &mut Context<'_>) -> Option<Bytes> {
    match inbox?.poll_event(cx) {
        Poll::Ready(event) => event,
        Poll::Pending => None,
    }
}

impl<F: Future + ?Sized, L> Unpin for StreamingCall<F, L> {}

impl<F, L> Events for StreamingCall<F, L>
where
    F: Future<Output: Send> + Send + ?Sized + 'static,
    L: FnOnce(F::Output) -> Bytes + Send + 'static,
{
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(event) = self.event.take() {
            return Poll::Ready(Some(event));
        }
        if let Some(call) = &mut self.call
            && let Poll::Ready(result) = call.as_mut().poll(cx)
        {
            self.result = Some(result);
            self.call = None;
        }
        if let Some(event) = poll_inbox(self.inbox.as_ref(), cx) {
            return Poll::Ready(Some(event));
        }
        if self.call.is_some() {
            return Poll::Pending;
        }
        let this = &mut *self;
        match (this.result.take(), this.last.take()) {
            (Some(result), Some(last)) => Poll::Ready(Some(last(result))),
            _ => Poll::Ready(None),
        }
    }
}

const ACCEL: HeaderName = HeaderName::from_static("x-accel-buffering");

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;
    use crate::outbox;

    async fn check(call: impl Future<Output = u32> + Send + 'static, inbox: Inbox) -> String {
        let call: Pin<Box<dyn Future<Output = u32> + Send>> = Box::pin(call);
        let answer = respond_or_stream(
            call,
            inbox,
            Duration::from_secs(5),
            |result| json(StatusCode::OK, result.to_string()),
            |result| Bytes::from(format!("last {result}")),
        )
        .await;
        let kind = answer.headers()[CONTENT_TYPE].to_str().unwrap().to_owned();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        format!("{kind}: {}", String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_silent_call_is_plain_json() {
        let (_outbox, inbox) = outbox(99);
        let call = async {
            tokio::task::yield_now().await;
            7
        };
        assert_eq!(check(call, inbox).await, "application/json: 7");
    }

    #[tokio::test]
    async fn a_call_that_speaks_is_a_stream_that_ends_with_its_result() {
        let (outbox, inbox) = outbox(99);
        let call = async move {
            outbox.push(Bytes::from_static(b"one,")).unwrap();
            tokio::task::yield_now().await;
            outbox.push(Bytes::from_static(b"two,")).unwrap();
            outbox.push(Bytes::from_static(b"three,")).unwrap();
            7
        };
        let expected = "text/event-stream: one,two,three,last 7";
        assert_eq!(check(call, inbox).await, expected);
    }

    #[tokio::test]
    async fn what_a_call_says_in_its_only_poll_is_not_lost() {
        let (outbox, inbox) = outbox(99);
        let call = async move {
            outbox.push(Bytes::from_static(b"one,")).unwrap();
            7
        };
        assert_eq!(check(call, inbox).await, "text/event-stream: one,last 7");
    }

    #[tokio::test]
    async fn another_task_may_send_for_a_call_that_waits() {
        let (outbox, inbox) = outbox(99);
        let (go, gone) = tokio::sync::oneshot::channel();
        let speaker = async move {
            outbox.push(Bytes::from_static(b"one,")).unwrap();
            go.send(()).unwrap();
        };
        let call = async move {
            gone.await.unwrap();
            7
        };
        let (said, ()) = tokio::join!(check(call, inbox), speaker);
        assert_eq!(said, "text/event-stream: one,last 7");
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_call_becomes_a_stream_so_that_comments_keep_it_alive() {
        let (_outbox, inbox) = outbox(99);
        let call = async {
            tokio::time::sleep(Duration::from_secs(6)).await;
            7
        };
        assert_eq!(check(call, inbox).await, "text/event-stream: last 7");
    }

    #[tokio::test]
    async fn dropping_the_answer_drops_the_call() {
        struct Noticed(tokio::sync::mpsc::UnboundedSender<()>);
        impl Drop for Noticed {
            fn drop(&mut self) {
                self.0.send(()).unwrap();
            }
        }
        let (tx, mut dropped) = tokio::sync::mpsc::unbounded_channel();
        let (outbox, inbox) = outbox(99);
        let call = Box::pin(async move {
            let _noticed = Noticed(tx);
            outbox.push(Bytes::from_static(b"one,")).unwrap();
            std::future::pending::<u32>().await
        });
        let plain = |_| accepted();
        let answer = respond_or_stream(call, inbox, Duration::MAX, plain, |_| Bytes::new()).await;
        assert!(dropped.try_recv().is_err());
        drop(answer);
        dropped.recv().await.unwrap();
    }
}
