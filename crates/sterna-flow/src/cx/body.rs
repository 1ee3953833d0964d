//! Bodies of steps.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::step_error::StepError;
use crate::idempotency::IdempotencyKey;

/// Body of a step: a closure that returns a future.
///
/// Implemented for the closures that [`FlowCx`](crate::FlowCx) takes. Authors
/// do not implement it.
pub trait Body {
    /// Value that is recorded.
    type Value: Serialize + DeserializeOwned;
    /// Error of the body.
    type Error: fmt::Display;
    /// Future of one attempt.
    type Attempt: Future;
    /// Output of the step for its handler.
    type Output;

    /// Starts the next attempt; `None` if the closure cannot be called again.
    fn attempt(&mut self, key: IdempotencyKey) -> Option<Self::Attempt>;

    /// The result of an attempt that has ended.
    #[doc(hidden)]
    fn result(ended: <Self::Attempt as Future>::Output) -> Result<Self::Value, Self::Error>;

    /// The output for a recorded result.
    ///
    /// # Errors
    ///
    /// The result is a failure, and the body cannot fail.
    #[doc(hidden)]
    fn output(recorded: Result<Self::Value, StepError>) -> Result<Self::Output, StepError>;
}

/// Body of a step that may fail: its future returns a `Result`.
pub trait FallibleBody: Body<Output = Result<<Self as Body>::Value, StepError>> {}

/// A closure that returns the value of its step.
pub(super) struct Plain<C>(pub(super) C);

/// A closure that returns the value of its step, or an error.
pub(super) struct Fallible<C>(pub(super) C);

impl<C> Body for Plain<C>
where
    C: Closure,
    <C::Attempt as Future>::Output: Serialize + DeserializeOwned,
{
    type Value = <C::Attempt as Future>::Output;
    type Error = Infallible;
    type Attempt = C::Attempt;
    type Output = Self::Value;

    fn attempt(&mut self, key: IdempotencyKey) -> Option<C::Attempt> {
        self.0.call(key)
    }

    fn result(ended: Self::Value) -> Result<Self::Value, Infallible> {
        Ok(ended)
    }

    fn output(recorded: Result<Self::Value, StepError>) -> Result<Self::Value, StepError> {
        recorded
    }
}

impl<C, T, E> Body for Fallible<C>
where
    C: Closure,
    C::Attempt: Future<Output = Result<T, E>>,
    T: Serialize + DeserializeOwned,
    E: fmt::Display,
{
    type Value = T;
    type Error = E;
    type Attempt = C::Attempt;
    type Output = Result<T, StepError>;

    fn attempt(&mut self, key: IdempotencyKey) -> Option<C::Attempt> {
        self.0.call(key)
    }

    fn result(ended: Result<T, E>) -> Result<T, E> {
        ended
    }

    fn output(recorded: Result<T, StepError>) -> Result<Self::Output, StepError> {
        Ok(recorded)
    }
}

impl<C> FallibleBody for Fallible<C> where
    Self: Body<Output = Result<<Self as Body>::Value, StepError>>
{
}

/// A closure that begins an attempt.
pub(super) trait Closure {
    type Attempt: Future;

    /// `None` if it cannot be called again.
    fn call(&mut self, key: IdempotencyKey) -> Option<Self::Attempt>;
}

/// A closure that is called once.
pub(super) struct CallOnce<F>(pub(super) Option<F>);

/// A closure that can be called again, for a step that is retried.
pub(super) struct CallAgain<F>(pub(super) F);

/// A closure that is called once, with an idempotency key.
pub(super) struct CallOnceWithKey<F>(pub(super) Option<F>);

/// A closure that can be called again, with the same idempotency key.
pub(super) struct CallAgainWithKey<F>(pub(super) F);

impl<F: FnOnce() -> Fut, Fut: Future> Closure for CallOnce<F> {
    type Attempt = Fut;

    fn call(&mut self, _: IdempotencyKey) -> Option<Fut> {
        self.0.take().map(|body| body())
    }
}

impl<F: FnMut() -> Fut, Fut: Future> Closure for CallAgain<F> {
    type Attempt = Fut;

    fn call(&mut self, _: IdempotencyKey) -> Option<Fut> {
        Some((self.0)())
    }
}

impl<F: FnOnce(IdempotencyKey) -> Fut, Fut: Future> Closure for CallOnceWithKey<F> {
    type Attempt = Fut;

    fn call(&mut self, key: IdempotencyKey) -> Option<Fut> {
        self.0.take().map(|body| body(key))
    }
}

impl<F: FnMut(IdempotencyKey) -> Fut, Fut: Future> Closure for CallAgainWithKey<F> {
    type Attempt = Fut;

    fn call(&mut self, key: IdempotencyKey) -> Option<Fut> {
        Some((self.0)(key))
    }
}
