//! The part of a run that differs from one way of asking to another.

use std::task::{Context, Poll};

use bytes::Bytes;
use sterna_flow::{Diagnostic, Driver, Key, OpenQuestion, UnixMillis};

/// Checks the questions of a handler, and sends them to its client.
///
/// `A` is a question as the handler asks it. For every batch,
/// [`admit`](Self::admit) is called for each question, then
/// [`lacking`](Self::lacking) and [`charge`](Self::charge) once, then
/// [`send`](Self::send) for those that were admitted. A question that cannot be
/// sent and has a fallback is answered with the fallback.
pub trait Gate<A> {
    /// Question of the protocol.
    type Question;

    /// Reason for which a run ends without an outcome.
    type Error;

    /// Reads `asked` and checks that its client may be sent it.
    ///
    /// # Errors
    ///
    /// The question must not be sent to any client, which ends the run.
    fn admit(&mut self, asked: &A) -> Result<Admit<Self::Question>, Self::Error>;

    /// Returns the error for the questions of the batch that were
    /// [`Admit::Lacking`], if there were any.
    fn lacking(&mut self) -> Option<Self::Error>;

    /// Charges the caller for the `questions` of a batch that are to be sent.
    ///
    /// # Errors
    ///
    /// The caller may not be asked so many, which ends the run.
    fn charge(&mut self, _questions: usize) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Sends an admitted question.
    ///
    /// # Errors
    ///
    /// It cannot be sent, which ends the run.
    fn send(&mut self, asked: &A, question: Self::Question) -> Result<(), Self::Error>;
}

/// Way of sending the questions of a flow to its client, and of getting the
/// answers.
pub trait Delivery: Gate<OpenQuestion> {
    /// `true` for a delivery that sends questions while the flow runs. `false`
    /// for one whose flow is suspended first.
    const SENDS_WHILE_RUNNING: bool;

    /// Returns the time, for the flow's timers and its answers.
    ///
    /// It may stand still while the delivery waits for answers: no timer fires
    /// then before the answers are handed in.
    fn now(&self) -> UnixMillis;

    /// Returns `false` to hand the flow over at its next checkpoint.
    fn may_continue(&self) -> bool {
        true
    }

    /// Returns the error of a mistake in the handler. It ends the run, also if
    /// the handler has returned a result.
    fn misuse(&self) -> Option<Self::Error>;

    /// Reports a diagnostic to the handler's author.
    fn report(&self, diagnostic: Diagnostic);

    /// Hands in answers that have come with an operation of the flow itself,
    /// before its questions are looked at. Returns `true` if the flow was given
    /// something.
    fn receive(&mut self, _flow: &mut dyn Flow) -> bool {
        false
    }

    /// Takes back a question that the flow no longer asks.
    fn withdraw(&mut self, key: &Key);

    /// Hands in the answers that have come, and does the delivery's own work.
    ///
    /// Called whenever the flow waits. Registers the waker of `cx` for what it
    /// waits for itself.
    ///
    /// # Errors
    ///
    /// Ends the run.
    fn poll(&mut self, _flow: &mut dyn Flow, _cx: &mut Context<'_>) -> Result<Next, Self::Error> {
        Ok(Next::Wait)
    }

    /// Waits, after the flow's end, for work that the delivery has begun.
    ///
    /// # Errors
    ///
    /// Ends the run in place of its outcome.
    fn poll_settled(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }
}

/// Errors of a handler that returns its questions itself.
pub trait HandlerErrors {
    /// Reason for which its run ends without a result.
    type Error;

    /// Returns the error of a mistake in the handler. It ends the run, also if
    /// the handler has returned a result.
    fn misuse(&self) -> Option<Self::Error>;

    /// Returns the error of a handler that panicked with `message`.
    fn panicked(&self, message: &str) -> Self::Error;
}

/// Decision of a [`Gate`] about one question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "`run` acts on each of them")]
pub enum Admit<Q> {
    /// The client cannot be sent it; this is the answer instead.
    FallBack(Bytes),
    /// The client cannot be sent it, and there is no fallback.
    Lacking,
    /// The client may be sent it.
    Send(Q),
}

/// Decision of a [`Delivery`] that was polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "`run` acts on each of them")]
pub enum Next {
    /// Leave the flow alone until the delivery has something else to say: it is
    /// being handed over.
    Hold,
    /// Poll the flow: it was given something.
    Poll,
    /// Wait for the flow, for its timers and for the delivery.
    Wait,
}

/// Running flow, as a [`Delivery`] sees it.
pub trait Flow {
    /// Hands in an answer that came at `at`; `false` if it does not count.
    fn answer(&mut self, key: &str, answer: Bytes, at: UnixMillis) -> bool;

    /// Returns `true` if the flow waits for nothing but answers and timers.
    fn is_idle(&self) -> bool;

    /// Returns the time of the flow's next timer.
    fn next_wake(&self) -> Option<UnixMillis>;

    /// Asks the flow to end.
    fn cancel(&self);

    /// Asks the flow to stop at its next checkpoint.
    fn shed(&self);
}

impl<F, T, E> Flow for Driver<'_, F>
where
    F: Future<Output = Result<T, E>> + ?Sized,
{
    fn answer(&mut self, key: &str, answer: Bytes, at: UnixMillis) -> bool {
        Driver::answer(self, key, answer, at)
    }

    fn is_idle(&self) -> bool {
        Driver::is_idle(self)
    }

    fn next_wake(&self) -> Option<UnixMillis> {
        Driver::next_wake(self)
    }

    fn cancel(&self) {
        self.remote().cancel();
    }

    fn shed(&self) {
        self.remote().shed();
    }
}
