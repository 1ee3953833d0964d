use std::fmt;
use std::future::Future;
use std::pin::Pin as Pinned;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use sterna_flow::{AskWithin, Pin};

use super::AskError;
use super::question::Question;

/// A question on its way to its answer. Made by the verbs of
/// [`Cx`](crate::Cx).
///
/// # Cancel safety
///
/// Dropping it withdraws the question; an answer that comes later is ignored.
#[must_use = "a question is asked when it is awaited"]
pub struct Ask<'a, T> {
    waiting: Waiting<'a, T>,
    fallback: Option<T>,
}

enum Waiting<'a, T> {
    Patient(sterna_flow::Ask<'a, Question<T>>),
    Within(AskWithin<'a, Question<T>>),
    /// It cannot be asked, and the runner has been told.
    Never,
}

impl<'a, T: Send + 'static> Ask<'a, T> {
    pub(super) fn new(ask: sterna_flow::Ask<'a, Question<T>>) -> Self {
        Self {
            waiting: Waiting::Patient(ask),
            fallback: None,
        }
    }

    pub(super) fn never() -> Self {
        Self {
            waiting: Waiting::Never,
            fallback: None,
        }
    }

    /// Takes `value` if the client cannot be asked.
    ///
    /// Without a fallback such a client gets an error that names the
    /// capability it lacks.
    pub fn fallback(mut self, value: T) -> Self {
        self.fallback = Some(value);
        self.optional()
    }

    /// Takes what an argument of the call says if the client cannot be asked.
    /// An argument that says nothing is no fallback.
    pub fn fallback_to(self, argument: Option<T>) -> Self {
        match argument {
            Some(value) => self.fallback(value),
            None => self,
        }
    }

    /// Goes on with [`AskError::CannotAsk`] if the client cannot be asked.
    pub fn optional(mut self) -> Self {
        match &mut self.waiting {
            Waiting::Patient(ask) => ask.question_mut().has_fallback = true,
            Waiting::Within(ask) => ask.question_mut().has_fallback = true,
            Waiting::Never => {}
        }
        self
    }

    /// Says how much of the question an answer is pinned to.
    pub fn pin(mut self, pin: Pin) -> Self {
        self.waiting = match self.waiting {
            Waiting::Patient(ask) => Waiting::Patient(ask.pin(pin)),
            other => other,
        };
        self
    }

    /// Accepts an answer that an older build recorded under the name `old`.
    pub fn formerly(mut self, old: &str) -> Self {
        self.waiting = match self.waiting {
            Waiting::Patient(ask) => Waiting::Patient(ask.formerly(old)),
            other => other,
        };
        self
    }

    /// Stops waiting after `duration`, counted from when it was first asked,
    /// with [`AskError::TooLate`]. Comes last, after [`pin`](Self::pin) and
    /// [`formerly`](Self::formerly).
    pub fn deadline(mut self, duration: Duration) -> Self {
        self.waiting = match self.waiting {
            Waiting::Patient(ask) => Waiting::Within(ask.deadline(duration)),
            other => other,
        };
        self
    }
}

impl<T: Send + 'static> Future for Ask<'_, T> {
    type Output = Result<T, AskError>;

    fn poll(self: Pinned<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let answer = match &mut this.waiting {
            Waiting::Patient(ask) => ready!(Pinned::new(ask).poll(cx)),
            Waiting::Within(ask) => match ready!(Pinned::new(ask).poll(cx)) {
                Ok(answer) => answer,
                Err(_) => Err(AskError::TooLate),
            },
            Waiting::Never => return Poll::Pending,
        };
        Poll::Ready(match answer {
            Err(AskError::CannotAsk) => this.fallback.take().ok_or(AskError::CannotAsk),
            answer => answer,
        })
    }
}

// Nothing in it is ever pinned.
impl<T> Unpin for Ask<'_, T> {}

impl<T> fmt::Debug for Ask<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.waiting {
            Waiting::Patient(ask) => ask.fmt(f),
            Waiting::Within(ask) => ask.fmt(f),
            Waiting::Never => f.write_str("Ask(never)"),
        }
    }
}
