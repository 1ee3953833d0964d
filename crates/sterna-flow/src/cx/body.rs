//! Bodies of steps.

use std::fmt;
use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::idempotency::IdempotencyKey;

/// What a step runs: a closure that returns a future.
///
/// Implemented here for what [`FlowCx`](crate::FlowCx) makes of an author's closure;
/// nobody else needs to.
pub trait Body {
    /// Result of the body.
    type Value: Serialize + DeserializeOwned;
    /// Error of the body.
    type Error: fmt::Display;
    /// Future of one attempt.
    type Attempt: Future<Output = Result<Self::Value, Self::Error>>;

    /// Starts the next attempt; `None` if the closure cannot be called again.
    fn attempt(&mut self, key: IdempotencyKey) -> Option<Self::Attempt>;
}

/// A closure that is called once.
pub(super) struct OnceBody<F>(pub(super) Option<F>);

impl<F, Fut, T, E> Body for OnceBody<F>
where
    F: FnOnce() -> Fut,
    Fut: Future<Output = Result<T, E>>,
    T: Serialize + DeserializeOwned,
    E: fmt::Display,
{
    type Value = T;
    type Error = E;
    type Attempt = Fut;

    fn attempt(&mut self, _: IdempotencyKey) -> Option<Fut> {
        self.0.take().map(|body| body())
    }
}

/// A closure that can be called again, for a step that is retried.
pub(super) struct RetryBody<F>(pub(super) F);

impl<F, Fut, T, E> Body for RetryBody<F>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
    T: Serialize + DeserializeOwned,
    E: fmt::Display,
{
    type Value = T;
    type Error = E;
    type Attempt = Fut;

    fn attempt(&mut self, _: IdempotencyKey) -> Option<Fut> {
        Some((self.0)())
    }
}

/// A closure that is called once, with an idempotency key.
pub(super) struct KeyedOnceBody<F>(pub(super) Option<F>);

impl<F, Fut, T, E> Body for KeyedOnceBody<F>
where
    F: FnOnce(IdempotencyKey) -> Fut,
    Fut: Future<Output = Result<T, E>>,
    T: Serialize + DeserializeOwned,
    E: fmt::Display,
{
    type Value = T;
    type Error = E;
    type Attempt = Fut;

    fn attempt(&mut self, key: IdempotencyKey) -> Option<Fut> {
        self.0.take().map(|body| body(key))
    }
}

/// A closure that can be called again, with the same idempotency key.
pub(super) struct KeyedRetryBody<F>(pub(super) F);

impl<F, Fut, T, E> Body for KeyedRetryBody<F>
where
    F: FnMut(IdempotencyKey) -> Fut,
    Fut: Future<Output = Result<T, E>>,
    T: Serialize + DeserializeOwned,
    E: fmt::Display,
{
    type Value = T;
    type Error = E;
    type Attempt = Fut;

    fn attempt(&mut self, key: IdempotencyKey) -> Option<Fut> {
        Some((self.0)(key))
    }
}
