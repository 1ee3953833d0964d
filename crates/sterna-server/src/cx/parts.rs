//! The verbs for time, chance, names and the parts of a handler.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sterna_flow::{Arms, Cancelled, Checkpoint, JoinAll, Now, Race, Random, Sleep, Uuid};

use super::Cx;

/// # Time and chance
impl<'a> Cx<'a> {
    /// The time at which the handler first got here. The same in every replay.
    #[track_caller]
    pub fn now(&self, name: &str) -> Now<'a> {
        self.flow.now(name)
    }

    /// Waits for `duration`, counted from when the handler first got here.
    ///
    /// In round trips a short sleep keeps the request open. Beside a question
    /// the time runs while the client is away. For the deadline of a question
    /// see [`Ask::deadline`](crate::Ask::deadline).
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
}

/// # Names and branches
///
/// Every question and step has a name. A name that is used again refers to the
/// next one of that name (`row`, `row#2`, …). Names that are in use at the same
/// time must be in different [scopes](Self::scope).
impl<'a> Cx<'a> {
    /// A context with names of its own, for one row of a loop or one branch of
    /// a `join!`.
    ///
    /// The same scope may be entered again; its names continue.
    ///
    /// ```
    /// use sterna_server::{Cx, ToolError};
    ///
    /// async fn import(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    ///     let asking = ["a", "b"].map(|row| {
    ///         cx.scope(row).ask::<String>("fix", format!("What should {row} be?"))
    ///     });
    ///     // One round for all rows.
    ///     let values: Result<Vec<String>, _> = cx.join_all(asking).await.into_iter().collect();
    ///     Ok(values?.join(", "))
    /// }
    /// ```
    #[must_use]
    pub fn scope(&self, name: impl fmt::Display) -> Self {
        Self::new(self.flow.scope(name), self.request.clone())
    }

    /// Waits for all of `futures`.
    ///
    /// `tokio::join!` works as well. Unlike `FuturesUnordered`, and `join_all`
    /// of more than thirty futures, this one needs no executor of its own, so
    /// the round ends as soon as all of them wait.
    pub fn join_all<I>(&self, futures: I) -> JoinAll<I::Item>
    where
        I: IntoIterator,
        I::Item: Future,
    {
        self.flow.join_all(futures)
    }

    /// Waits for the first of several futures and records its result.
    ///
    /// `tokio::select!` is enough for questions and steps. This one is for a
    /// race with any other future, such as a socket: every replay gets the
    /// recorded result.
    #[track_caller]
    pub fn race<'b, A>(&self, name: &str, arms: A) -> Race<'a, 'b, A::Output>
    where
        A: Arms<'b>,
        A::Output: Serialize + DeserializeOwned,
    {
        self.flow.race(name, arms)
    }

    /// Runs a part of the handler and keeps only its result: it replaces every
    /// entry that the part has recorded in the journal.
    ///
    /// ```
    /// use sterna_server::{Cx, ToolError};
    ///
    /// async fn order(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    ///     let address = cx
    ///         .memo("address", async |cx: Cx<'_>| {
    ///             let street: String = cx.ask("street", "Street?").await.ok()?;
    ///             let city: String = cx.ask("city", "City?").await.ok()?;
    ///             Some(format!("{street}, {city}"))
    ///         })
    ///         .await;
    ///     Ok(address.unwrap_or_default())
    /// }
    /// ```
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
        let request = self.request.clone();
        self.flow
            .memo(name, move |flow| body(Cx::new(flow, request)))
    }
}

/// # Moving and ending
impl<'a> Cx<'a> {
    /// A point at which an overloaded server may hand the flow to another
    /// instance.
    #[track_caller]
    pub fn checkpoint(&self, name: &str) -> Checkpoint<'a> {
        self.flow.checkpoint(name)
    }

    /// Continues as a task from here, if the call may: the client gets a task
    /// handle, and every later step is committed to the store.
    ///
    /// For a tool that [asks first](crate::Tool::task_on_demand). Does nothing in a
    /// flow that is a task already, and for a client that does not support
    /// tasks.
    pub async fn become_task(&self) {
        // A flow can go elsewhere only if it got further in this round; this makes sure.
        self.flow.checkpoint("become_task").await;
        if self.request.want_task() {
            // The runner reads the wish before the flow reaches the second checkpoint.
            tokio::task::yield_now().await;
            self.flow.checkpoint("become_task").await;
        }
    }

    /// Resolves when the flow is being cancelled.
    ///
    /// Steps may wait for it too, to stop early. A handler that does not use it
    /// is dropped at its next wait, and its compensations run.
    pub fn cancelled(&self) -> Cancelled<'a> {
        self.flow.cancelled()
    }
}
