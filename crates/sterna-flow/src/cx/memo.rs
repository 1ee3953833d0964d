//! A part of a handler of which only the result is kept.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::FlowCx;
use super::value::{read, write};
use crate::journal::Kind;
use crate::shared::{Permission, WaiterHandle};

/// A part of a handler of which only the result is kept. Made by
/// [`FlowCx::memo`](crate::FlowCx::memo).
#[must_use = "futures do nothing unless awaited"]
pub struct Memo<'a, F, Fut> {
    handle: WaiterHandle<'a>,
    body: Option<F>,
    inner: Option<Pin<Box<Fut>>>,
}

impl<'a, F, Fut> Memo<'a, F, Fut> {
    pub(super) const fn new(handle: WaiterHandle<'a>, body: F) -> Self {
        Self {
            handle,
            body: Some(body),
            inner: None,
        }
    }
}

impl<'a, F, Fut> Future for Memo<'a, F, Fut>
where
    F: FnOnce(FlowCx<'a>) -> Fut,
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
                let inside = this.handle.given_inside();
                write(&this.handle, Kind::Memo, inside, &value, cx);
            }
            match this.handle.poll(cx) {
                Permission::Told(entry) => {
                    this.handle.note_given(&entry);
                    return read(&mut this.handle, entry);
                }
                Permission::Start => {
                    let scoped =
                        FlowCx::inside_memo(this.handle.shared().clone(), &this.handle.key());
                    this.inner = this.body.take().map(|body| Box::pin(body(scoped)));
                }
                Permission::Ask(_) | Permission::Wait => return Poll::Pending,
            }
        }
    }
}

// The closure is only ever called, and what it returned is in a box.
impl<F, Fut> Unpin for Memo<'_, F, Fut> {}

impl<F, Fut> fmt::Debug for Memo<'_, F, Fut> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memo({})", self.handle.key())
    }
}
