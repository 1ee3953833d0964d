//! The context of a handler: the ways to ask, to act and to wait.

mod ask;
mod body;
mod cancelled;
mod join_all;
mod memo;
mod moment;
mod once;
mod question;
mod race;
mod report;
mod retry;
mod step;
mod step_error;
mod steps;
mod value;
mod work;

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use ask::{Ask, AskWithin, Elapsed};
pub use body::{Body, FallibleBody};
pub use cancelled::Cancelled;
pub use join_all::JoinAll;
pub use memo::Memo;
pub use moment::{Checkpoint, Now, Sleep};
pub use once::Once;
pub use question::{Opaque, Pin, Question, Rejected};
pub use race::{Arms, Race};
pub use report::RunInfo;
pub use retry::Retry;
pub use step::Step;
pub use step_error::{StepError, StepErrorKind};

use crate::journal::Kind;
use crate::key::{Key, RANDOM};
use crate::random::{Random, Uuid};
use crate::shared::{Shared, WaiterHandle};

/// A handler's way to ask, to act and to wait, so that all of it is remembered.
///
/// It belongs to one run of one handler: it cannot be cloned, stored or moved
/// into another task.
///
/// ```compile_fail,E0521
/// # use sterna_flow::FlowCx;
/// async fn handler(cx: FlowCx<'_>, (): ()) -> Result<(), String> {
///     tokio::spawn(async move { cx.now("start").await });
///     Ok(())
/// }
/// ```
///
/// Everything is named. A name is used again for the next thing of the same
/// kind (`row`, `row#2`, …); for things that are in progress at the same time,
/// give each a [`scope`](Self::scope).
pub struct FlowCx<'a> {
    shared: Arc<Shared<'a>>,
    scope: Option<Key>,
    in_memo: bool,
}

impl<'a> FlowCx<'a> {
    pub(crate) const fn new(shared: Arc<Shared<'a>>) -> Self {
        Self {
            shared,
            scope: None,
            in_memo: false,
        }
    }

    /// Asks the client `question`.
    ///
    /// The answer counts for this very question: if its words have changed when
    /// the answer comes, the client is asked again, as `name~2`.
    #[track_caller]
    pub fn ask<Q: Question>(&self, name: &str, question: Q) -> Ask<'a, Q> {
        Ask::new(self.handle(name, Kind::Answer), question)
    }

    /// The time at which the handler first asked for it.
    #[track_caller]
    pub fn now(&self, name: &str) -> Now<'a> {
        Now::new(self.handle(name, Kind::Now))
    }

    /// Waits for `duration`, counted from when the handler first got here.
    ///
    /// In round trips a short sleep holds the request open; beside a question it
    /// runs while the client is away.
    #[track_caller]
    pub fn sleep(&self, name: &str, duration: Duration) -> Sleep<'a> {
        Sleep::new(self.handle(name, Kind::Elapsed), duration)
    }

    /// A point at which an overloaded server may hand the flow to another one.
    #[track_caller]
    pub fn checkpoint(&self, name: &str) -> Checkpoint<'a> {
        Checkpoint::new(self.handle(name, Kind::Checkpoint))
    }

    /// Randomness that stays the same in every replay.
    #[must_use]
    pub fn random(&self, name: &str) -> Random {
        let key = self.mark(name, RANDOM);
        Random::derive(self.shared.engine.digest.clone(), &self.shared.flow, &key)
    }

    /// A UUID that stays the same in every replay.
    #[must_use]
    pub fn uuid(&self, name: &str) -> Uuid {
        let key = self.mark(name, RANDOM);
        Uuid::derive(&*self.shared.engine.digest, &self.shared.flow, &key)
    }

    /// Waits for the first of several futures, and remembers which it was.
    ///
    /// `tokio::select!` does that for questions and steps. This one is for races
    /// with anything else: its result is remembered, so a replay cannot see
    /// another winner.
    #[track_caller]
    pub fn race<'b, A>(&self, name: &str, arms: A) -> Race<'a, 'b, A::Output>
    where
        A: Arms<'b>,
        A::Output: Serialize + DeserializeOwned,
    {
        Race::new(self.handle(name, Kind::Race), arms.into_arms())
    }

    /// Waits for all of `futures`.
    ///
    /// Unlike `FuturesUnordered`, and `join_all` of more than thirty, it is no
    /// executor of its own, so a suspension need not wait for it.
    pub fn join_all<I>(&self, futures: I) -> JoinAll<I::Item>
    where
        I: IntoIterator,
        I::Item: Future,
    {
        JoinAll::new(futures)
    }

    /// A context whose names are apart from all others, for one row of a loop or
    /// one branch of a `join!`.
    ///
    /// The same scope may be entered again; its names go on where they were.
    #[must_use]
    pub fn scope(&self, name: impl fmt::Display) -> Self {
        let mut text = String::new();
        crate::key::write_key(&mut text, self.scope.as_ref(), &name.to_string());
        Self {
            shared: self.shared.clone(),
            scope: Some(Key::new(&text)),
            in_memo: self.in_memo,
        }
    }

    /// Runs a part of the handler whose details need not be kept: when it has
    /// ended, its result takes the place of everything recorded inside.
    #[track_caller]
    pub fn memo<F, Fut>(&self, name: &str, body: F) -> Memo<'a, F, Fut>
    where
        F: FnOnce(Self) -> Fut,
        Fut: Future,
        Fut::Output: Serialize + DeserializeOwned,
    {
        Memo::new(self.handle(name, Kind::Memo), body)
    }

    fn inside_memo(shared: Arc<Shared<'a>>, memo: &Key) -> Self {
        Self {
            shared,
            scope: Some(memo.memo_scope()),
            in_memo: true,
        }
    }

    #[track_caller]
    fn handle(&self, name: &str, wants: Kind) -> WaiterHandle<'a> {
        let at = Location::caller();
        WaiterHandle::new(&self.shared, self.scope.as_ref(), name, wants, at)
    }

    /// A name for something that is no future.
    fn mark(&self, name: &str, mark: char) -> Key {
        let mut state = self.shared.lock();
        if state.closed {
            // A destructor asks, and nothing comes of it any more.
            return Key::new(name);
        }
        match state.name(self.scope.as_ref(), name, Some(mark)) {
            Ok(key) => key,
            Err(error) => {
                state.fail(error);
                Key::new(name)
            }
        }
    }
}

impl fmt::Debug for FlowCx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowCx")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}
