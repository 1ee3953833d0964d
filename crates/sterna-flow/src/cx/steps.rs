//! The verbs that run a body and record its result.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::panic::Location;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::body::{
    Body, CallAgain, CallAgainWithKey, CallOnce, CallOnceWithKey, Fallible, FallibleBody, Plain,
};
use super::{FlowCx, Once, Retry, Step};
use crate::error::Error;
use crate::idempotency::IdempotencyKey;
use crate::journal::Kind;
use crate::key::UNDO;
use crate::shared::Undo;

impl<'a> FlowCx<'a> {
    /// Runs `body` and records its value; a replay gets the value and does not
    /// run it.
    ///
    /// At least once: a step that was interrupted runs again. For a body that
    /// may fail, use [`try_step`](Self::try_step).
    ///
    /// ```
    /// # use sterna_flow::FlowCx;
    /// # fn make_plan(service: &str) -> String { service.to_owned() }
    /// async fn deploy(cx: FlowCx<'_>, service: String) -> String {
    ///     cx.step("plan", || async { make_plan(&service) }).await
    /// }
    /// ```
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
        let body = Plain(CallOnce(Some(body)));
        Step::new(self.handle(name, Kind::Step), body)
    }

    /// A [`step`](Self::step) whose body returns a `Result`. An error is
    /// recorded like a value.
    ///
    /// ```
    /// # use sterna_flow::{FlowCx, StepError};
    /// # async fn make_plan(service: &str) -> Result<String, std::io::Error> { Ok(service.to_owned()) }
    /// async fn deploy(cx: FlowCx<'_>, service: String) -> Result<String, StepError> {
    ///     let plan = cx.try_step("plan", || make_plan(&service)).await?;
    ///     Ok(plan)
    /// }
    /// ```
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
        let body = Fallible(CallOnce(Some(body)));
        Step::new(self.handle(name, Kind::Step), body)
    }

    /// A [`try_step`](Self::try_step) that is tried again when it fails. The
    /// error of the last attempt is recorded.
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
        let body = Fallible(CallAgain(body));
        Step::new(self.handle(name, Kind::Step), body).tried(retry)
    }

    /// A [`step`](Self::step) that changes something outside the server.
    ///
    /// It may be interrupted after it has done its work, and then runs again
    /// with the same key. Pass the key to a service that recognizes repeated
    /// requests by it. For a service without such keys use [`once`](Self::once).
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
        let body = Plain(CallOnceWithKey(Some(body)));
        Step::new(self.handle(name, Kind::Step), body).effect(Location::caller())
    }

    /// An [`effect`](Self::effect) whose body returns a `Result`. An error is
    /// recorded like a value.
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
        let body = Fallible(CallOnceWithKey(Some(body)));
        Step::new(self.handle(name, Kind::Step), body).effect(Location::caller())
    }

    /// A [`try_effect`](Self::try_effect) that is tried again when it fails, each
    /// time with the same key.
    #[track_caller]
    pub fn retry_effect<F, Fut, T, E>(
        &self,
        name: &str,
        retry: Retry,
        body: F,
    ) -> Step<'a, impl FallibleBody<Value = T, Error = E, Attempt = Fut> + use<'a, F, Fut, T, E>>
    where
        F: FnMut(IdempotencyKey) -> Fut,
        Fut: Future<Output = Result<T, E>>,
        T: Serialize + DeserializeOwned,
        E: fmt::Display,
    {
        let body = Fallible(CallAgainWithKey(body));
        Step::new(self.handle(name, Kind::Step), body)
            .tried(retry)
            .effect(Location::caller())
    }

    /// An effect that happens at most once, even if the process crashes or a
    /// request is repeated.
    ///
    /// The output is a `Result` because the effect may be
    /// [`Ambiguous`](crate::StepErrorKind::Ambiguous). Needs a
    /// [`Ledger`](crate::Ledger); without one the effect does not run and the
    /// run stops with [`Error::NoLedger`].
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
        let body = Plain(CallOnceWithKey(Some(body)));
        Once::new(Step::new(self.handle(name, Kind::Once), body))
    }

    /// An effect that happens at most [`once`](Self::once), and whose body
    /// returns a `Result`. An error is recorded like a value.
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
        let body = Fallible(CallOnceWithKey(Some(body)));
        Once::new(Step::new(self.handle(name, Kind::Once), body))
    }

    /// Registers `compensation`, which runs if the flow fails or is cancelled
    /// from here on.
    ///
    /// Compensations run in reverse order, each at least once. In round trips
    /// none runs if the client does not come back: reserve only what expires by
    /// itself, or run as a task.
    pub fn undo<F, Fut>(&self, name: &str, compensation: F)
    where
        F: FnOnce(IdempotencyKey) -> Fut + Send + 'a,
        Fut: Future<Output = ()> + Send + 'a,
    {
        self.try_undo(name, |key| {
            let compensating = compensation(key);
            async {
                compensating.await;
                Ok::<_, Infallible>(())
            }
        });
    }

    /// An [`undo`](Self::undo) whose compensation returns a `Result`. The driver
    /// reports an error of it.
    pub fn try_undo<F, Fut, E>(&self, name: &str, compensation: F)
    where
        F: FnOnce(IdempotencyKey) -> Fut + Send + 'a,
        Fut: Future<Output = Result<(), E>> + Send + 'a,
        E: fmt::Display,
    {
        let key = self.mark(name, UNDO);
        let mut state = self.shared.lock();
        if state.closed {
            return;
        }
        if self.in_memo {
            state.fail(Error::UndoInMemo { key });
            return;
        }
        state.undos.push(Undo {
            key,
            run: Box::new(|key| {
                let compensating = compensation(key);
                Box::pin(async { compensating.await.map_err(|error| error.to_string()) })
            }),
        });
    }
}
