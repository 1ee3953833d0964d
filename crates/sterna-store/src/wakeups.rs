//! Hints that there may be something to do, sooner than the next poll.

use std::future::poll_fn;
use std::task::Poll;

use tokio::sync::broadcast;

use crate::{BlobId, TaskId};

/// Hints from a store that a task was answered or cancelled, or that a blob was
/// posted.
///
/// Never needed: a hint may be lost, late or repeated, and a worker that polls
/// finds the same work. It only shortens the wait.
#[derive(Debug)]
pub struct Wakeups {
    hints: Vec<broadcast::Receiver<Wakeup>>,
}

impl Wakeups {
    /// The hints of several stores, as those of one.
    pub fn merge(wakeups: impl IntoIterator<Item = Self>) -> Self {
        let hints = wakeups.into_iter().flat_map(|wakeups| wakeups.hints);
        Self {
            hints: hints.collect(),
        }
    }

    /// Waits for the next hint. If its sender is gone, it waits forever: give
    /// it a timer for company.
    ///
    /// # Cancel safety
    ///
    /// A dropped call loses no hint.
    pub async fn next(&mut self) -> Wakeup {
        if let [hints] = self.hints.as_mut_slice() {
            return next_of(hints).await;
        }
        let mut next: Vec<_> = self
            .hints
            .iter_mut()
            .map(|hints| Box::pin(next_of(hints)))
            .collect();
        poll_fn(|cx| {
            for hint in &mut next {
                if let Poll::Ready(wakeup) = hint.as_mut().poll(cx) {
                    return Poll::Ready(wakeup);
                }
            }
            Poll::Pending
        })
        .await
    }
}

async fn next_of(hints: &mut broadcast::Receiver<Wakeup>) -> Wakeup {
    match hints.recv().await {
        Ok(wakeup) => wakeup,
        Err(broadcast::error::RecvError::Lagged(_)) => Wakeup::Many,
        Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
    }
}

/// The subject of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wakeup {
    /// This blob was posted.
    Blob(BlobId),
    /// So many that some were dropped: look everywhere.
    Many,
    /// This task was answered or cancelled.
    Task(TaskId),
}

/// The sending end of the hints, for authors of stores.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use sterna_store::{TaskId, Wakeup, WakeupSender};
///
/// let sender = WakeupSender::default();
/// let mut wakeups = sender.listen();
/// let task = TaskId::from_bytes([7; 16]);
/// sender.send(task);
/// assert_eq!(wakeups.next().await, Wakeup::Task(task));
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct WakeupSender {
    hints: broadcast::Sender<Wakeup>,
}

impl WakeupSender {
    /// Tells every listener about `task`. Does nothing if there are no listeners.
    pub fn send(&self, task: TaskId) {
        self.tell(Wakeup::Task(task));
    }

    /// Tells every listener about `blob`.
    pub fn send_for_blob(&self, blob: BlobId) {
        self.tell(Wakeup::Blob(blob));
    }

    fn tell(&self, wakeup: Wakeup) {
        // An error means that there are no listeners.
        let _ = self.hints.send(wakeup);
    }

    /// Hears every ring from here on.
    pub fn listen(&self) -> Wakeups {
        Wakeups {
            hints: vec![self.hints.subscribe()],
        }
    }
}

impl Default for WakeupSender {
    /// Holds 256 hints for a slow listener, then tells it [`Wakeup::Many`].
    fn default() -> Self {
        Self {
            hints: broadcast::Sender::new(256),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn merged_hints_come_from_every_store() {
        let senders = [WakeupSender::default(), WakeupSender::default()];
        let mut wakeups = Wakeups::merge(senders.iter().map(WakeupSender::listen));
        for sender in &senders {
            sender.send(TaskId::from_bytes([1; 16]));
            assert!(matches!(wakeups.next().await, Wakeup::Task(_)));
        }
    }

    #[tokio::test]
    async fn a_listener_that_sleeps_is_told_that_it_missed_some() {
        let sender = WakeupSender::default();
        let mut wakeups = sender.listen();
        for _ in 0..1000 {
            sender.send(TaskId::from_bytes([1; 16]));
        }
        assert_eq!(wakeups.next().await, Wakeup::Many);
        assert!(matches!(wakeups.next().await, Wakeup::Task(_)));
    }
}
