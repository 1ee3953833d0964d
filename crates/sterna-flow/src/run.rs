//! One run of a handler, before it begins.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::cx::Cx;
use crate::driver::Driver;
use crate::engine::Engine;
use crate::flow_id::FlowId;
use crate::journal::Journal;
use crate::plugs::{Journaling, Listener};
use crate::shared::Shared;

/// One run of a handler: whose it is, in which way it runs, and what happened
/// before.
///
/// ```
/// # fn sha256(_: &[&[u8]]) -> [u8; 32] { [0; 32] }
/// use std::convert::Infallible;
/// use std::sync::Arc;
/// use std::task::{Context, Poll, Waker};
/// use sterna_flow::{Cx, Engine, FlowId, Outcome, Run, UnixMillis};
///
/// async fn greet(_cx: Cx<'_>, name: String) -> Result<String, Infallible> {
///     Ok(format!("Hello, {name}!"))
/// }
///
/// let engine = Arc::new(Engine::new(sha256));
/// let mut driver =
///     Run::new(engine, FlowId::new([1; 16])).drive(|cx| Box::pin(greet(cx, "Ada".to_owned())));
/// let polled = driver.poll(UnixMillis::new(0), &mut Context::from_waker(Waker::noop()));
/// assert!(matches!(polled, Poll::Ready(Outcome::Finished(text)) if text == "Hello, Ada!"));
/// ```
pub struct Run {
    pub(crate) engine: Arc<Engine>,
    pub(crate) flow: FlowId,
    pub(crate) way: Way,
    pub(crate) round: u32,
    pub(crate) journal: Journal,
    pub(crate) build: Build,
    pub(crate) principal: Option<Arc<str>>,
    pub(crate) listener: Option<Arc<dyn Listener>>,
    pub(crate) journaling: Option<Arc<dyn Journaling>>,
}

impl Run {
    /// The first run of a flow, in round trips.
    #[must_use]
    pub fn new(engine: Arc<Engine>, flow: FlowId) -> Self {
        Self {
            engine,
            flow,
            way: Way::RoundTrips,
            round: 0,
            journal: Journal::new(),
            build: Build::Same,
            principal: None,
            listener: None,
            journaling: None,
        }
    }

    /// Runs in another way.
    #[must_use]
    pub const fn way(mut self, way: Way) -> Self {
        self.way = way;
        self
    }

    /// Goes on where `journal` ends. `round` counts how often the flow has been
    /// back at the client, `build` says who wrote the journal.
    #[must_use]
    pub fn resume(mut self, journal: Journal, round: u32, build: Build) -> Self {
        self.journal = journal;
        self.round = round;
        self.build = build;
        self
    }

    /// Tells the handler who is calling.
    #[must_use]
    pub fn principal(mut self, principal: impl Into<Arc<str>>) -> Self {
        self.principal = Some(principal.into());
        self
    }

    /// Hears the handler's progress and log messages.
    #[must_use]
    pub fn listener(mut self, listener: Arc<dyn Listener>) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Makes every entry durable before the handler sees it.
    #[must_use]
    pub fn journaling(mut self, journaling: Arc<dyn Journaling>) -> Self {
        self.journaling = Some(journaling);
        self
    }

    /// Hands the handler its [`Cx`] and returns what polls it.
    pub fn drive<'a, F, T, E>(self, handler: impl FnOnce(Cx<'a>) -> Pin<Box<F>>) -> Driver<'a, F>
    where
        F: Future<Output = Result<T, E>> + ?Sized,
    {
        Driver::new(Shared::new(self), handler)
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("way", &self.way)
            .field("round", &self.round)
            .field("journal", &self.journal)
            .finish_non_exhaustive()
    }
}

/// The ways in which one and the same handler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Way {
    /// The client has a connection on which it can be asked; the handler stays
    /// in memory until it is done.
    Legacy,
    /// A question ends the request; the handler is dropped and replayed.
    RoundTrips,
    /// The journal is in a store; the handler may be dropped whenever it waits.
    Task,
}

/// Who wrote the journal that a run begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Build {
    /// Another build of the program: questions may differ for good reason.
    Other,
    /// This very build: a question that differs was made from something that
    /// is not in the journal.
    Same,
}
