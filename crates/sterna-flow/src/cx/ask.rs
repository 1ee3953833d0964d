//! A question on its way to its answer.

use std::fmt;
use std::future::Future;
use std::pin::Pin as Pinned;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use super::question::{Pin, Question};
use crate::journal::{Entry, Kind};
use crate::shared::{Changed, Permission, WaiterHandle};

/// A question on its way to its answer. Made by [`FlowCx::ask`](crate::FlowCx::ask).
///
/// # Cancel safety
///
/// Dropping it withdraws the question; an answer that comes later is ignored.
#[must_use = "a question is asked when it is awaited"]
pub struct Ask<'a, Q> {
    handle: WaiterHandle<'a>,
    question: Q,
    pin: Pin,
    pinned: bool,
}

impl<'a, Q: Question> Ask<'a, Q> {
    pub(super) const fn new(handle: WaiterHandle<'a>, question: Q) -> Self {
        Self {
            handle,
            question,
            pin: Pin::Exact,
            pinned: false,
        }
    }

    /// The question, as long as it has not been put.
    pub const fn question_mut(&mut self) -> &mut Q {
        &mut self.question
    }

    /// Says how much of the question an answer is pinned to.
    pub const fn pin(mut self, pin: Pin) -> Self {
        self.pin = pin;
        self
    }

    /// Accepts an answer that an older build recorded under the name `old`.
    pub fn formerly(self, old: &str) -> Self {
        self.handle.alias(old);
        self
    }

    /// Stops waiting after `duration`, counted from when it was first asked.
    pub fn deadline(self, duration: Duration) -> AskWithin<'a, Q> {
        self.handle.lasts(duration);
        AskWithin(self)
    }

    /// Waits until the journal has an answer, or the deadline has passed.
    fn poll_entry(&mut self, cx: &Context<'_>) -> Poll<Entry> {
        if !self.pinned {
            let digest = &*self.handle.shared().engine.digest;
            let fingerprint = self.question.fingerprint(self.pin, digest);
            self.handle.pin(fingerprint, Changed::Rerun);
            self.pinned = true;
        }
        match self.handle.poll(cx) {
            Permission::Told(entry) => Poll::Ready(entry),
            Permission::Ask(rejected) => {
                let request = self.question.request(rejected.as_deref());
                self.handle.open(request, cx);
                Poll::Pending
            }
            Permission::Start | Permission::Wait => Poll::Pending,
        }
    }

    /// The answer, or nothing if it does not fit and the question is open again.
    fn read(&mut self, entry: &Entry) -> Option<Q::Answer> {
        match self.question.read(&entry.value) {
            Ok(answer) => {
                self.handle.note_given(entry);
                self.handle.finish();
                Some(answer)
            }
            Err(rejected) => {
                self.handle.reject(rejected.reason());
                None
            }
        }
    }
}

impl<Q: Question> Future for Ask<'_, Q> {
    type Output = Q::Answer;

    fn poll(self: Pinned<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            let entry = ready!(this.poll_entry(cx));
            if let Some(answer) = this.read(&entry) {
                return Poll::Ready(answer);
            }
        }
    }
}

// The question is only ever used by reference.
impl<Q> Unpin for Ask<'_, Q> {}

impl<Q> fmt::Debug for Ask<'_, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ask({})", self.handle.key())
    }
}

/// A question with a deadline. Made by [`Ask::deadline`].
///
/// In round trips the client is away while time passes; an answer that arrives
/// after the deadline has lost, in every replay.
#[must_use = "a question is asked when it is awaited"]
pub struct AskWithin<'a, Q>(Ask<'a, Q>);

impl<Q> AskWithin<'_, Q> {
    /// The question, as long as it has not been put.
    pub const fn question_mut(&mut self) -> &mut Q {
        &mut self.0.question
    }
}

impl<Q: Question> Future for AskWithin<'_, Q> {
    type Output = Result<Q::Answer, Elapsed>;

    fn poll(self: Pinned<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let ask = &mut self.get_mut().0;
        loop {
            let entry = ready!(ask.poll_entry(cx));
            if entry.kind == Kind::Elapsed {
                ask.handle.finish();
                return Poll::Ready(Err(Elapsed));
            }
            if let Some(answer) = ask.read(&entry) {
                return Poll::Ready(Ok(answer));
            }
        }
    }
}

impl<Q> fmt::Debug for AskWithin<'_, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The deadline of a question passed without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no answer came in time")]
#[non_exhaustive]
pub struct Elapsed;
