//! One run of a handler, before it begins.

use std::fmt;
use std::sync::Arc;

use sterna_types::FlowId;

use crate::backends::{JournalSink, Listener};
use crate::engine::Engine;
use crate::journal::Journal;

/// One run of a handler: its flow, its execution mode and its journal so far.
///
/// ```
/// # fn sha256(_: &[&[u8]]) -> [u8; 32] { [0; 32] }
/// use std::convert::Infallible;
/// use std::sync::Arc;
/// use std::task::{Context, Poll, Waker};
/// use sterna_flow::{FlowCx, Engine, FlowId, Outcome, Run, UnixMillis};
///
/// async fn greet(_cx: FlowCx<'_>, name: String) -> Result<String, Infallible> {
///     Ok(format!("Hello, {name}!"))
/// }
///
/// let engine = Arc::new(Engine::new(sha256));
/// let mut driver =
///     Run::new(engine, FlowId::from_bytes([1; 16])).drive(|cx| Box::pin(greet(cx, "Ada".to_owned())));
/// let polled = driver.poll(UnixMillis::new(0), &mut Context::from_waker(Waker::noop()));
/// assert!(matches!(polled, Poll::Ready(Outcome::Finished(text)) if text == "Hello, Ada!"));
/// ```
pub struct Run {
    pub(crate) engine: Arc<Engine>,
    pub(crate) flow: FlowId,
    pub(crate) mode: ExecutionMode,
    pub(crate) round: u32,
    pub(crate) journal: Journal,
    pub(crate) build: BuildMatch,
    pub(crate) principal: Option<Arc<str>>,
    pub(crate) listener: Option<Arc<dyn Listener>>,
    pub(crate) journaling: Option<Arc<dyn JournalSink>>,
}

impl Run {
    /// The first run of a flow, in round trips.
    #[must_use]
    pub fn new(engine: Arc<Engine>, flow: FlowId) -> Self {
        Self {
            engine,
            flow,
            mode: ExecutionMode::RoundTrips,
            round: 0,
            journal: Journal::new(),
            build: BuildMatch::Same,
            principal: None,
            listener: None,
            journaling: None,
        }
    }

    /// Sets the execution mode. Default: round trips.
    #[must_use]
    pub const fn mode(mut self, mode: ExecutionMode) -> Self {
        self.mode = mode;
        self
    }

    /// Goes on where `journal` ends. `round` counts how often the flow has been
    /// back at the client, `build` says who wrote the journal.
    #[must_use]
    pub fn resume(mut self, journal: Journal, round: u32, build: BuildMatch) -> Self {
        self.journal = journal;
        self.round = round;
        self.build = build;
        self
    }

    /// Gives the handler the name of the caller.
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
    pub fn journaling(mut self, journaling: Arc<dyn JournalSink>) -> Self {
        self.journaling = Some(journaling);
        self
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("mode", &self.mode)
            .field("round", &self.round)
            .field("journal", &self.journal)
            .finish_non_exhaustive()
    }
}

/// Mode in which a handler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExecutionMode {
    /// The client has a connection on which it can be asked; the handler stays
    /// in memory until it is done.
    Legacy,
    /// A question ends the request; the handler is dropped and replayed.
    RoundTrips,
    /// The journal is in a store; the handler may be dropped whenever it waits.
    Task,
}

/// Origin of the journal that a run starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BuildMatch {
    /// Another build of the program: questions may differ for good reason.
    Other,
    /// This very build: a question that differs was made from something that
    /// is not in the journal.
    Same,
}
