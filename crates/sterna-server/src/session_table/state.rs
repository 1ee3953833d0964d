//! State of one session at one instance.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sterna_http::{Budget, Part, Reservation};
use sterna_protocol::jsonrpc::{ErrorObject, RequestId};
use sterna_protocol::logging::LoggingLevel;
use tokio::sync::oneshot;

use crate::changes::ResourceWatcher;
use crate::failure::Failure;
use crate::sink::MessageSink;

/// The part of a session that is alive here: its running calls, its open
/// questions, and what it wants to hear.
#[derive(Debug, Default)]
pub(crate) struct SessionState(Mutex<SessionInner>);

#[derive(Debug, Default)]
struct SessionInner {
    level: Option<LoggingLevel>,
    watched: BTreeSet<String>,
    /// The charge of what is watched; `None` while nothing is.
    room: Option<Reservation>,
    /// Handles of running calls; dropping one stops its call.
    calls: HashMap<RequestId, oneshot::Sender<()>>,
    questions: HashMap<u64, oneshot::Sender<ClientAnswer>>,
    asked: u64,
    /// `true` once the client has disconnected.
    disconnected: bool,
    stream: Option<MessageSink>,
}

/// Answer of a client: the text of a result, or its refusal.
pub(crate) type ClientAnswer = Result<String, ErrorObject>;

impl SessionState {
    pub(crate) fn level(&self) -> Option<LoggingLevel> {
        self.lock().level.clone()
    }

    pub(crate) fn set_level(&self, level: LoggingLevel) {
        self.lock().level = Some(level);
    }

    /// Adds a resource to those that are watched.
    pub(crate) fn watch(&self, uri: &str, memory: &Arc<Budget>) -> Result<(), NotWatched> {
        let mut state = self.lock();
        if state.watched.contains(uri) {
            return Ok(());
        }
        if state.watched.len() >= memory.limits().subscriptions {
            return Err(NotWatched::TooMany);
        }
        let grown = match &mut state.room {
            Some(room) => room.grow(size(uri)),
            none => {
                *none = memory.take(Part::Subscriptions, size(uri));
                none.as_ref().map(|_| ())
            }
        };
        grown.ok_or(NotWatched::NoMemory)?;
        state.watched.insert(uri.to_owned());
        Ok(())
    }

    pub(crate) fn unwatch(&self, uri: &str) {
        let mut state = self.lock();
        if state.watched.remove(uri)
            && let Some(room) = &mut state.room
        {
            room.shrink(size(uri));
        }
    }

    /// Speaks to the client on `stream`, and on the one before no more: a
    /// message goes out once.
    pub(crate) fn listen(&self, stream: MessageSink) {
        let before = self.lock().stream.replace(stream);
        if let Some(before) = before {
            before.finish();
        }
    }

    /// Notes that the request `id` is running. The receiver ends when it is to
    /// stop.
    pub(crate) fn begin(&self, id: RequestId) -> oneshot::Receiver<()> {
        let (stop, stopped) = oneshot::channel();
        let mut state = self.lock();
        // Calls that have ended leave their end of the channel behind.
        state.calls.retain(|_, stop| !stop.is_closed());
        state.calls.insert(id, stop);
        stopped
    }

    /// Stops the request `id`; one that is not running is ignored.
    pub(crate) fn cancel(&self, id: &RequestId) {
        self.lock().calls.remove(id);
    }

    /// Opens a question: its number, and where its answer will be.
    pub(crate) fn open(&self) -> Result<(u64, oneshot::Receiver<ClientAnswer>), Failure> {
        let (answer, answered) = oneshot::channel();
        let mut state = self.lock();
        if state.disconnected {
            return Err(DISCONNECTED);
        }
        if state.questions.len() >= MOST_QUESTIONS {
            return Err(Failure::Crowded);
        }
        state.asked += 1;
        let number = state.asked;
        state.questions.insert(number, answer);
        Ok((number, answered))
    }

    /// Takes the question `number` back.
    pub(crate) fn withdraw(&self, number: u64) {
        self.lock().questions.remove(&number);
    }

    /// Delivers an answer to the call that asked. A wrong, late or second one is
    /// ignored.
    pub(crate) fn answer(&self, number: u64, answer: ClientAnswer) {
        let asker = self.lock().questions.remove(&number);
        if let Some(asker) = asker {
            // The call that asked may have ended at this moment.
            let _ = asker.send(answer);
        }
    }

    /// Withdraws all questions and refuses further ones: the client has
    /// disconnected.
    pub(crate) fn disconnect(&self) {
        let mut state = self.lock();
        state.disconnected = true;
        state.questions.clear();
    }

    /// Returns `true` if the client has disconnected.
    pub(crate) fn is_disconnected(&self) -> bool {
        self.lock().disconnected
    }

    /// Stops everything.
    pub(crate) fn end(&self) {
        let state = std::mem::take(&mut *self.lock());
        let calls = state
            .calls
            .values()
            .filter(|stop| !stop.is_closed())
            .count();
        if calls > 0 {
            let questions = state.questions.len();
            tracing::debug!(
                target: "sterna::sessions",
                calls,
                questions,
                "pending calls are cancelled: their session has ended"
            );
        }
        if let Some(stream) = &state.stream {
            stream.finish();
        }
    }

    fn lock(&self) -> MutexGuard<'_, SessionInner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResourceWatcher for SessionState {
    fn watches(&self, uri: &str) -> bool {
        self.lock().watched.contains(uri)
    }
}

/// Ends when `stopped` says so, and not before.
pub(crate) async fn stop(stopped: oneshot::Receiver<()>) {
    // The sender is only ever dropped.
    let _ = stopped.await;
}

/// Failure of a question whose client has disconnected.
pub(crate) const DISCONNECTED: Failure = Failure::Unanswered("The client is gone.");

/// Questions that one session may have open: no person answers more at once.
const MOST_QUESTIONS: usize = 32;

/// Reason that a resource is not watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotWatched {
    /// All sessions together watch too much.
    NoMemory,
    /// This session watches too many.
    TooMany,
}

/// Memory of a watched resource, roughly.
fn size(uri: &str) -> usize {
    uri.len() + 64
}
