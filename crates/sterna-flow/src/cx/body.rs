//! What a step runs.

use std::fmt;
use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::flow_id::IdempotencyKey;

/// What a step runs: a closure that returns a future.
///
/// Implemented here for what [`Cx`](crate::Cx) makes of an author's closure;
/// nobody else needs to.
pub trait Body {
    /// What it returns if it works.
    type Value: Serialize + DeserializeOwned;
    /// What it returns if it does not.
    type Error: fmt::Display;
    /// One try.
    type Attempt: Future<Output = Result<Self::Value, Self::Error>>;

    /// Begins the next try, unless there is none left.
    fn attempt(&mut self, key: IdempotencyKey) -> Option<Self::Attempt>;
}

/// A closure that is called once.
#[derive(Debug)]
pub struct Plain<F>(pub(super) Option<F>);

impl<F, Fut, T, E> Body for Plain<F>
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
#[derive(Debug)]
pub struct Again<F>(pub(super) F);

impl<F, Fut, T, E> Body for Again<F>
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
#[derive(Debug)]
pub struct Keyed<F>(pub(super) Option<F>);

impl<F, Fut, T, E> Body for Keyed<F>
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
#[derive(Debug)]
pub struct KeyedAgain<F>(pub(super) F);

impl<F, Fut, T, E> Body for KeyedAgain<F>
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
