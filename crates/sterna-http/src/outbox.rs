//! Events of a call before its answer: a bounded queue without a task behind it.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::body::Events;
use super::budget::Reservation;

/// Opens a queue that holds at most `limit` bytes of events, and one event of
/// any size.
#[must_use]
pub fn outbox(limit: usize) -> (Outbox, Inbox) {
    charged(limit, None)
}

/// As [`outbox`], with the waiting events charged to `hold`.
pub(super) fn charged(limit: usize, hold: Option<Reservation>) -> (Outbox, Inbox) {
    let queue = Arc::new(Mutex::new(Queue {
        events: VecDeque::new(),
        bytes: 0,
        hold,
        limit,
        closed: false,
        reader: None,
        writers: Vec::new(),
    }));
    (Outbox(Arc::clone(&queue)), Inbox(queue))
}

/// The end of a queue into which events are put, framed for the wire.
///
/// A slow reader fills it, and then it refuses: the sender of the events decides
/// whether to wait for [`room`](Self::room), to drop the event or to give up.
#[derive(Clone)]
pub struct Outbox(Arc<Mutex<Queue>>);

/// The end from which they are read. Dropping it closes the queue.
pub struct Inbox(Arc<Mutex<Queue>>);

struct Queue {
    events: VecDeque<Bytes>,
    bytes: usize,
    /// The charge of `bytes`; `None` if nothing is charged.
    hold: Option<Reservation>,
    limit: usize,
    closed: bool,
    reader: Option<Waker>,
    writers: Vec<Waker>,
}

impl Outbox {
    /// Puts an event in.
    ///
    /// # Errors
    ///
    /// [`PushError::Full`] while the reader lags behind or all readers together
    /// do, [`PushError::Closed`] once it is gone: nothing put in later will be
    /// read.
    pub fn push(&self, event: Bytes) -> Result<(), PushError> {
        let mut queue = lock(&self.0);
        if queue.closed {
            return Err(PushError::Closed);
        }
        if !queue.has_room(event.len()) {
            return Err(PushError::Full);
        }
        if let Some(hold) = &mut queue.hold
            && hold.grow(event.len()).is_none()
        {
            return Err(PushError::Full);
        }
        queue.bytes += event.len();
        queue.events.push_back(event);
        let reader = queue.reader.take();
        drop(queue);
        if let Some(reader) = reader {
            reader.wake();
        }
        Ok(())
    }

    /// Waits until an event of `size` bytes has room or the reader is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future and asking again loses nothing.
    pub async fn room(&self, size: usize) {
        poll_fn(|cx| {
            let mut queue = lock(&self.0);
            if queue.closed || queue.has_room(size) {
                return Poll::Ready(());
            }
            if !queue
                .writers
                .iter()
                .any(|waker| waker.will_wake(cx.waker()))
            {
                queue.writers.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// Ends the queue: its events are still read, and no others are added.
    pub fn finish(&self) {
        let mut queue = lock(&self.0);
        queue.closed = true;
        let reader = queue.reader.take();
        let writers = std::mem::take(&mut queue.writers);
        drop(queue);
        reader.into_iter().chain(writers).for_each(Waker::wake);
    }

    /// Returns whether the reader is gone or the queue was ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        lock(&self.0).closed
    }
}

impl Inbox {
    /// The next event, the end, or neither yet.
    pub fn poll_event(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut queue = lock(&self.0);
        if let Some(event) = queue.events.pop_front() {
            queue.bytes -= event.len();
            if let Some(hold) = &mut queue.hold {
                hold.shrink(event.len());
            }
            let writers = std::mem::take(&mut queue.writers);
            drop(queue);
            writers.into_iter().for_each(Waker::wake);
            return Poll::Ready(Some(event));
        }
        if queue.closed {
            return Poll::Ready(None);
        }
        match &mut queue.reader {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.0).events.is_empty()
    }
}

impl Events for Inbox {
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.poll_event(cx)
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let mut queue = lock(&self.0);
        queue.closed = true;
        queue.events.clear();
        queue.bytes = 0;
        queue.hold = None;
        let writers = std::mem::take(&mut queue.writers);
        drop(queue);
        writers.into_iter().for_each(Waker::wake);
    }
}

impl Queue {
    /// An empty queue takes any event, so that one larger than the limit is
    /// late rather than impossible.
    fn has_room(&self, size: usize) -> bool {
        self.events.is_empty() || self.bytes.saturating_add(size) <= self.limit
    }
}

/// The reason an event was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PushError {
    /// The reader is gone.
    #[error("the reader is gone")]
    Closed,
    /// The reader lags behind.
    #[error("the reader lags behind")]
    Full,
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Outbox({} bytes)", lock(&self.0).bytes)
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inbox({} bytes)", lock(&self.0).bytes)
    }
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn next(inbox: &Inbox) -> Option<Bytes> {
        poll_fn(|cx| inbox.poll_event(cx)).await
    }

    #[tokio::test]
    async fn events_come_out_in_order_and_the_end_after_them() {
        let (outbox, inbox) = outbox(100);
        outbox.push(Bytes::from_static(b"a")).unwrap();
        outbox.push(Bytes::from_static(b"b")).unwrap();
        outbox.finish();
        assert_eq!(
            outbox.push(Bytes::from_static(b"c")),
            Err(PushError::Closed)
        );
        assert_eq!(next(&inbox).await, Some(Bytes::from_static(b"a")));
        assert_eq!(next(&inbox).await, Some(Bytes::from_static(b"b")));
        assert_eq!(next(&inbox).await, None);
    }

    #[tokio::test]
    async fn a_full_queue_refuses_until_the_reader_has_read() {
        let (outbox, inbox) = outbox(3);
        outbox
            .push(Bytes::from_static(b"larger than three"))
            .unwrap();
        let more = Bytes::from_static(b"xy");
        assert_eq!(outbox.push(more.clone()), Err(PushError::Full));
        let ((), read) = tokio::join!(outbox.room(2), next(&inbox));
        assert_eq!(read.unwrap().len(), 17);
        outbox.push(more.clone()).unwrap();
        assert_eq!(outbox.push(more), Err(PushError::Full));
    }

    #[tokio::test]
    async fn a_reader_that_leaves_wakes_those_who_wait_for_room() {
        let (outbox, inbox) = outbox(1);
        outbox.push(Bytes::from_static(b"a")).unwrap();
        tokio::join!(outbox.room(1), async { drop(inbox) });
        assert!(outbox.is_closed());
        assert_eq!(
            outbox.push(Bytes::from_static(b"a")),
            Err(PushError::Closed)
        );
    }

    #[tokio::test]
    async fn an_event_wakes_a_reader_that_waits() {
        let (outbox, inbox) = outbox(9);
        let (read, ()) = tokio::join!(next(&inbox), async {
            outbox.push(Bytes::from_static(b"a")).unwrap();
        });
        assert_eq!(read, Some(Bytes::from_static(b"a")));
    }
}
