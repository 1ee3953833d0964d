//! An effect that happens at most once.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::body::Body;
use super::step::Step;
use super::step_error::StepError;

/// An effect that happens at most once. Made by [`FlowCx::once`](crate::FlowCx::once).
///
/// The engine claims it in the ledger before it runs. A run that finds it
/// claimed gets its result, or [`Ambiguous`](crate::StepErrorKind::Ambiguous) if
/// there is no result: then it may have happened. It never runs twice.
///
/// # Cancel safety
///
/// Dropping it after it has begun leaves it claimed without a result.
#[must_use = "an effect happens when it is awaited"]
pub struct Once<'a, B: Body>(Step<'a, B>);

impl<'a, B: Body> Once<'a, B> {
    pub(super) const fn new(step: Step<'a, B>) -> Self {
        Self(step.at_most_once())
    }

    /// Stops it after `duration`; it may have happened nevertheless.
    pub fn timeout(self, duration: Duration) -> Self {
        Self(self.0.stop_after(duration))
    }

    /// Marks the result as secret in the stored journal.
    pub fn secret(self) -> Self {
        Self(self.0.secret())
    }

    /// Accepts a result that an older build recorded under the name `old`.
    pub fn formerly(self, old: &str) -> Self {
        Self(self.0.formerly(old))
    }
}

impl<B: Body> Future for Once<'_, B> {
    type Output = Result<B::Value, StepError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().0.poll_with(cx, Ok)
    }
}

impl<B: Body> fmt::Debug for Once<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Once({:?})", self.0)
    }
}
