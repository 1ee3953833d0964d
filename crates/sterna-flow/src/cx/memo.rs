//! A part of a handler of which only the result is kept.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Cx;
use super::value::{read, write};
use crate::journal::Kind;
use crate::shared::{Ticket, Turn};

/// A part of a handler of which only the result is kept. Made by
/// [`Cx::memo`](crate::Cx::memo).
#[must_use = "futures do nothing unless awaited"]
pub struct Memo<'a, F, Fut> {
    ticket: Ticket<'a>,
    body: Option<F>,
    inner: Option<Pin<Box<Fut>>>,
}

impl<'a, F, Fut> Memo<'a, F, Fut> {
    pub(super) const fn new(ticket: Ticket<'a>, body: F) -> Self {
        Self {
            ticket,
            body: Some(body),
            inner: None,
        }
    }
}

impl<'a, F, Fut> Future for Memo<'a, F, Fut>
where
    F: FnOnce(Cx<'a>) -> Fut,
    Fut: Future,
    Fut::Output: Serialize + DeserializeOwned,
{
    type Output = Fut::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            if let Some(inner) = &mut this.inner {
                let Poll::Ready(value) = inner.as_mut().poll(cx) else {
                    return Poll::Pending;
                };
                this.inner = None;
                write(&this.ticket, Kind::Memo, &value, cx);
            }
            match this.ticket.poll(cx) {
                Turn::Told(entry) => return read(&mut this.ticket, entry),
                Turn::Start => {
                    let scoped = Cx::inside_memo(this.ticket.shared().clone(), &this.ticket.key());
                    this.inner = this.body.take().map(|body| Box::pin(body(scoped)));
                }
                Turn::Ask(_) | Turn::Wait => return Poll::Pending,
            }
        }
    }
}

// The closure is only ever called, and what it returned is in a box.
impl<F, Fut> Unpin for Memo<'_, F, Fut> {}

impl<F, Fut> fmt::Debug for Memo<'_, F, Fut> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memo({})", self.ticket.key())
    }
}
