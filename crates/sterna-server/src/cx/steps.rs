//! The verbs whose results are recorded: steps, effects and their compensation.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sterna_flow::{Body, FallibleBody, IdempotencyKey, Once, Retry, Step};

use super::Cx;

/// # Steps and effects
///
/// The result of a step is recorded in the journal of the flow. When the handler
/// runs again in the next round, it gets the recorded result, and the body does
/// not run. A verb that begins with `try_` takes a body that returns a `Result`.
impl<'a> Cx<'a> {
    /// Runs `body` once per flow and records its value.
    ///
    /// At least once: a step that was interrupted runs again. For a body that
    /// may fail, use [`try_step`](Self::try_step).
    ///
    /// ```
    /// use sterna_server::{Cx, ToolError};
    /// # fn make_plan() -> String { String::new() }
    ///
    /// async fn deploy(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    ///     let plan = cx.step("plan", || async { make_plan() }).await;
    ///     let ok = cx.confirm("ok", format!("Deploy {plan}?")).await?;
    ///     Ok(format!("{plan}: {ok}"))
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
        self.flow.step(name, body)
    }

    /// A [`step`](Self::step) whose body returns a `Result`. An error is
    /// recorded like a value: every replay gets the same error.
    ///
    /// ```
    /// use sterna_server::{Cx, ToolError};
    /// # async fn make_plan() -> Result<String, std::io::Error> { Ok(String::new()) }
    ///
    /// async fn deploy(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    ///     let plan = cx.try_step("plan", make_plan).await?;
    ///     let ok = cx.confirm("ok", format!("Deploy {plan}?")).await?;
    ///     Ok(format!("{plan}: {ok}"))
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
        self.flow.try_step(name, body)
    }

    /// A [`try_step`](Self::try_step) that is tried again when it fails. The
    /// error of the last attempt is recorded.
    ///
    /// ```
    /// use sterna_server::{Cx, Retry, ToolError};
    /// # async fn fetch() -> Result<String, std::io::Error> { Ok(String::new()) }
    ///
    /// async fn mirror(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    ///     Ok(cx.retry("page", Retry::times(3), fetch).await?)
    /// }
    /// ```
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
        self.flow.effect(name, body)
    }

    /// An [`effect`](Self::effect) whose body returns a `Result`. An error is
    /// recorded like a value.
    ///
    /// ```
    /// use sterna_server::{Cx, ToolError};
    /// # async fn charge(key: String) -> Result<u32, std::io::Error> { Ok(0) }
    ///
    /// async fn pay(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    ///     let mail: String = cx.ask("mail", "Where to send the receipt?").await?;
    ///     let receipt = cx.try_effect("charge", |key| charge(key.to_string())).await?;
    ///     Ok(format!("{receipt} to {mail}"))
    /// }
    /// ```
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
        self.flow.retry_effect(name, retry, body)
    }

    /// An effect that happens at most once, even if the server crashes or a
    /// request is repeated.
    ///
    /// Needs a [`store`](crate::Server::store). Without one the effect does not
    /// run, and the call fails (MR0110). If the server stops between the effect
    /// and the record of its result, the handler gets
    /// [`StepErrorKind::Ambiguous`](crate::StepErrorKind::Ambiguous); that is why
    /// the output is a `Result`.
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
        self.flow.try_once(name, body)
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
