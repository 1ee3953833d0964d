//! The wish that a handler should stop.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::FlowCx;
use crate::shared::{CountedWaker, Shared};

impl<'a> FlowCx<'a> {
    /// Resolves when the owner of the run cancels the flow.
    ///
    /// Steps may use it too, to stop early. A handler that does not use it is dropped
    /// at its next wait, and its compensations run.
    pub fn cancelled(&self) -> Cancelled<'a> {
        Cancelled {
            shared: self.shared.clone(),
            id: None,
        }
    }
}

/// The wish that a handler should stop. Made by
/// [`FlowCx::cancelled`](crate::FlowCx::cancelled).
#[must_use = "futures do nothing unless awaited"]
pub struct Cancelled<'a> {
    shared: Arc<Shared<'a>>,
    id: Option<u64>,
}

impl Future for Cancelled<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let mut state = this.shared.lock();
        if state.cancelled {
            return Poll::Ready(());
        }
        let parked = CountedWaker::new(&this.shared.root, cx.waker());
        let id = *this.id.get_or_insert_with(|| {
            state.watchers += 1;
            state.watchers
        });
        state.cancel_watchers.insert(id, parked);
        Poll::Pending
    }
}

impl Drop for Cancelled<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.shared.lock().cancel_watchers.remove(&id);
        }
    }
}

impl fmt::Debug for Cancelled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cancelled")
    }
}
