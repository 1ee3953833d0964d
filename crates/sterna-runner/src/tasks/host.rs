//! The parts of a server that its workers need.

use std::sync::Arc;

use bytes::Bytes;
use sterna_flow::{Diagnostic, OpenQuestion, Outcome as FlowOutcome, UnixMillis};
use sterna_store::{BoxFuture, Claimed, Name, Outcome, TaskId};

use super::{TaskShared, WorkerExit};
use crate::delivery::Admit;
use crate::run::Running;

/// Server whose tasks are worked on.
pub trait TaskHost: Send + Sync + 'static {
    /// Offers of the server.
    type Catalog: TaskCatalog;

    /// Returns the time, for the timers of flows.
    fn now(&self) -> UnixMillis;

    /// Returns the offers as they are now. A task that was claimed for them is
    /// run by them, also if they change meanwhile.
    fn catalog(&self) -> Arc<Self::Catalog>;

    /// Returns `true` if the server is to stop.
    fn is_shutting_down(&self) -> bool;

    /// Resolves when the server is to stop.
    fn shutdown(&self) -> BoxFuture<'static, ()>;

    /// Returns the failure of a task whose time is up.
    fn expired(&self) -> Bytes;
}

/// Offers of a server that run as tasks.
pub trait TaskCatalog: Send + Sync + 'static {
    /// Protocol of one task.
    type Protocol: TaskProtocol;

    /// Returns the names of the offers.
    fn targets(&self) -> Vec<Name>;

    /// Wraps the work on a task in its `attempt`, for example in a span.
    fn enclose(
        &self,
        task: TaskId,
        attempt: u32,
        work: BoxFuture<'static, ()>,
    ) -> BoxFuture<'static, ()>;

    /// Starts the flow of a task where its journal ends. The run is attached to
    /// `shared`.
    ///
    /// # Errors
    ///
    /// The task cannot be run; it ends, or is left, in the way that is returned.
    fn start(
        &self,
        claimed: &Claimed,
        shared: &Arc<TaskShared>,
    ) -> Result<StartedTask<Self::Protocol>, WorkerExit>;
}

/// Flow of a task, and its protocol.
pub struct StartedTask<P: TaskProtocol> {
    pub(super) driver: Running<P::Output, P::Failure>,
    pub(super) protocol: P,
}

impl<P: TaskProtocol> StartedTask<P> {
    /// A flow that `driver` polls.
    pub fn new(driver: Running<P::Output, P::Failure>, protocol: P) -> Self {
        Self { driver, protocol }
    }
}

impl<P: TaskProtocol> std::fmt::Debug for StartedTask<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StartedTask").finish_non_exhaustive()
    }
}

/// Questions and results of one task, in the words of its protocol.
///
/// An [`Outcome`] that a method returns in place of something else ends the
/// task.
pub trait TaskProtocol: Send {
    /// Result of the handler.
    type Output: Send + 'static;

    /// Failure of the handler.
    type Failure: Send + 'static;

    /// As [`Delivery::misuse`](crate::Delivery::misuse).
    fn misuse(&self) -> Option<Outcome>;

    /// As [`Delivery::report`](crate::Delivery::report).
    fn report(&self, diagnostic: Diagnostic);

    /// Reads `question` as the client gets it, and checks that the client may be
    /// sent it.
    ///
    /// # Errors
    ///
    /// The question must not be sent to any client.
    fn admit(&mut self, question: &OpenQuestion) -> Result<Admit<Bytes>, Outcome>;

    /// As [`Gate::lacking`](crate::Gate::lacking).
    fn lacking(&mut self) -> Option<Outcome>;

    /// Returns the end of a task that the server cannot go on with.
    fn broken(&self) -> Outcome;

    /// Returns the end of a task whose flow has ended.
    fn exit(&self, ended: FlowOutcome<Self::Output, Self::Failure>) -> WorkerExit;
}
