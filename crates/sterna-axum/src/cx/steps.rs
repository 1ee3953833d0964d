//! The verbs whose results are recorded, and those for time, names and parts.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sterna_flow::{
    Arms, Body, Cancelled, FallibleBody, IdempotencyKey, JoinAll, Now, Once, Race, Random, Retry,
    Sleep, Step, Uuid,
};

use super::Cx;

/// # Steps and effects
///
/// The result of a step is recorded. When the handler runs again in the next
/// round, it gets the recorded result, and the body does not run. Plain code
/// between two awaits does run again, so what it reads is fresh.
impl<'a> Cx<'a> {
    /// Runs `body` once per flow and records its value. A step that was
    /// interrupted runs again.
    #[track_caller]
    pub fn step<F, Fut>(
        &self,
        name: &str,
        body: F,
    ) -> Step<
        'a,
        impl Body<Value = Fut::Output, Attempt = Fut, Output = Fut::Output> + use<'a, F, Fut>,
    >
    where
        F: FnOnce() -> Fut,
        Fut: Future,
        Fut::Output: Serialize + DeserializeOwned,
    {
        self.flow.step(name, body)
    }

    /// A [`step`](Self::step) whose body returns a `Result`. An error is
    /// recorded like a value.
    #[track_caller]
    pub fn try_step<F, Fut, T, E>(
        &self,
        name: &str,
        body: F,
    ) -> Step<'a, impl FallibleBody<Value = T, Error = E, Attempt = Fut> + use<'a, F, Fut, T, E>>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
        T: Serialize + DeserializeOwned,
        E: fmt::Display,
    {
        self.flow.try_step(name, body)
    }

    /// A [`try_step`](Self::try_step) that is tried again when it fails.
    #[track_caller]
    pub fn retry<F, Fut, T, E>(
        &self,
        name: &str,
        retry: Retry,
        body: F,
    ) -> Step<'a, impl FallibleBody<Value = T, Error = E, Attempt = Fut> + use<'a, F, Fut, T, E>>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>>,
        T: Serialize + DeserializeOwned,
        E: fmt::Display,
    {
        self.flow.retry(name, retry, body)
    }

    /// A [`step`](Self::step) that changes something outside. If it is
    /// interrupted it runs again with the same key.
    #[track_caller]
    pub fn effect<F, Fut>(
        &self,
        name: &str,
        body: F,
    ) -> Step<
        'a,
        impl Body<Value = Fut::Output, Attempt = Fut, Output = Fut::Output> + use<'a, F, Fut>,
    >
    where
        F: FnOnce(IdempotencyKey) -> Fut,
        Fut: Future,
        Fut::Output: Serialize + DeserializeOwned,
    {
        self.flow.effect(name, body)
    }

    /// An [`effect`](Self::effect) whose body returns a `Result`.
    #[track_caller]
    pub fn try_effect<F, Fut, T, E>(
        &self,
        name: &str,
        body: F,
    ) -> Step<'a, impl FallibleBody<Value = T, Error = E, Attempt = Fut> + use<'a, F, Fut, T, E>>
    where
        F: FnOnce(IdempotencyKey) -> Fut,
        Fut: Future<Output = Result<T, E>>,
        T: Serialize + DeserializeOwned,
        E: fmt::Display,
    {
        self.flow.try_effect(name, body)
    }

    /// An effect that happens at most once, even if the server crashes or a
    /// request is repeated. Needs a [store](crate::Resume::store); without one
    /// the effect does not run, and the request fails (MR0110).
    #[track_caller]
    pub fn once<F, Fut>(
        &self,
        name: &str,
        body: F,
    ) -> Once<
        'a,
        impl Body<Value = Fut::Output, Attempt = Fut, Output = Fut::Output> + use<'a, F, Fut>,
    >
    where
        F: FnOnce(IdempotencyKey) -> Fut,
        Fut: Future,
        Fut::Output: Serialize + DeserializeOwned,
    {
        self.flow.once(name, body)
    }

    /// An effect that happens at most [`once`](Self::once), and whose body
    /// returns a `Result`.
    #[track_caller]
    pub fn try_once<F, Fut, T, E>(
        &self,
        name: &str,
        body: F,
    ) -> Once<'a, impl FallibleBody<Value = T, Error = E, Attempt = Fut> + use<'a, F, Fut, T, E>>
    where
        F: FnOnce(IdempotencyKey) -> Fut,
        Fut: Future<Output = Result<T, E>>,
        T: Serialize + DeserializeOwned,
        E: fmt::Display,
    {
        self.flow.try_once(name, body)
    }

    /// Registers `compensation`, which runs if the flow fails or is cancelled
    /// from here on. A response with an error status is a failure.
    pub fn undo<F, Fut>(&self, name: &str, compensation: F)
    where
        F: FnOnce(IdempotencyKey) -> Fut + Send + 'a,
        Fut: Future<Output = ()> + Send + 'a,
    {
        self.flow.undo(name, compensation);
    }

    /// An [`undo`](Self::undo) whose compensation returns a `Result`. The log
    /// has an error of it.
    pub fn try_undo<F, Fut, E>(&self, name: &str, compensation: F)
    where
        F: FnOnce(IdempotencyKey) -> Fut + Send + 'a,
        Fut: Future<Output = Result<(), E>> + Send + 'a,
        E: fmt::Display,
    {
        self.flow.try_undo(name, compensation);
    }
}

/// # Time, chance, names and parts
impl<'a> Cx<'a> {
    /// The time at which the handler first got here. The same in every replay.
    #[track_caller]
    pub fn now(&self, name: &str) -> Now<'a> {
        self.flow.now(name)
    }

    /// Waits for `duration`, counted from when the handler first got here. A
    /// short sleep keeps the request open; one that is too long for a request
    /// fails it.
    #[track_caller]
    pub fn sleep(&self, name: &str, duration: Duration) -> Sleep<'a> {
        self.flow.sleep(name, duration)
    }

    /// A source of random numbers that are the same in every replay.
    #[must_use]
    pub fn random(&self, name: &str) -> Random {
        self.flow.random(name)
    }

    /// A UUID that is the same in every replay.
    #[must_use]
    pub fn uuid(&self, name: &str) -> Uuid {
        self.flow.uuid(name)
    }

    /// A context with names of its own, for one row of a loop or one branch of
    /// a `join!`.
    #[must_use]
    pub fn scope(&self, name: impl fmt::Display) -> Self {
        Self::new(self.flow.scope(name), Arc::clone(&self.request))
    }

    /// Waits for all of `futures`; the round ends as soon as all of them wait.
    pub fn join_all<I>(&self, futures: I) -> JoinAll<I::Item>
    where
        I: IntoIterator,
        I::Item: Future,
    {
        self.flow.join_all(futures)
    }

    /// Waits for the first of several futures and records its result.
    #[track_caller]
    pub fn race<'b, A>(&self, name: &str, arms: A) -> Race<'a, 'b, A::Output>
    where
        A: Arms<'b>,
        A::Output: Serialize + DeserializeOwned,
    {
        self.flow.race(name, arms)
    }

    /// Runs a part of the handler and keeps only its result.
    #[track_caller]
    pub fn memo<F, Fut>(
        &self,
        name: &str,
        body: F,
    ) -> impl Future<Output = Fut::Output> + use<'a, F, Fut>
    where
        F: FnOnce(Self) -> Fut,
        Fut: Future,
        Fut::Output: Serialize + DeserializeOwned,
    {
        let request = Arc::clone(&self.request);
        self.flow
            .memo(name, move |flow| body(Cx::new(flow, request)))
    }

    /// Resolves when the flow is being cancelled.
    pub fn cancelled(&self) -> Cancelled<'a> {
        self.flow.cancelled()
    }
}
