//! Calls of a session that are under way, so that a question outside of every
//! call's stream reaches the call that it can only belong to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use sterna_protocol::input::InputRequest;
use sterna_protocol::jsonrpc::RequestId;
use tokio::sync::mpsc;

use super::open::lock;

/// The calls of a session that have no answer yet.
#[derive(Debug, Default)]
pub(crate) struct RunningCalls(Mutex<CallTable>);

#[derive(Debug, Default)]
struct CallTable {
    begun: u64,
    /// With a sender for a call that pauses at questions.
    running: BTreeMap<u64, Option<mpsc::Sender<RelayedMessage>>>,
}

/// Message from outside of the call's stream.
#[derive(Debug)]
pub(super) enum RelayedMessage {
    Question {
        id: RequestId,
        request: Box<InputRequest>,
        bytes: usize,
    },
    Withdrawal(RequestId),
}

impl RunningCalls {
    /// Counts a call whose questions the handlers answer.
    pub(crate) fn enter(self: &Arc<Self>) -> RunningCall {
        self.add(None)
    }

    /// Counts a call that pauses at questions, and hands it those that come
    /// outside of its stream.
    pub(super) fn enter_pausing(self: &Arc<Self>) -> RelayedMessages {
        let (sender, receiver) = mpsc::channel(BACKLOG);
        RelayedMessages {
            receiver,
            _call: self.add(Some(sender)),
        }
    }

    fn add(self: &Arc<Self>, relay: Option<mpsc::Sender<RelayedMessage>>) -> RunningCall {
        let mut calls = lock(&self.0);
        calls.begun += 1;
        let number = calls.begun;
        calls.running.insert(number, relay);
        RunningCall {
            calls: self.clone(),
            number,
        }
    }

    /// Hands a question to the only call under way, if that pauses. With several
    /// calls it is not guessed whose question it is.
    pub(super) fn relay(&self, id: RequestId, request: InputRequest, bytes: usize) -> bool {
        let calls = lock(&self.0);
        let mut running = calls.running.values();
        let (Some(Some(only)), None) = (running.next(), running.next()) else {
            return false;
        };
        let question = RelayedMessage::Question {
            id,
            request: Box::new(request),
            bytes,
        };
        only.try_send(question).is_ok()
    }

    /// Tells every call that pauses that a question was withdrawn.
    pub(super) fn withdraw(&self, id: &RequestId) {
        let calls = lock(&self.0);
        for call in calls.running.values().flatten() {
            call.try_send(RelayedMessage::Withdrawal(id.clone())).ok();
        }
    }
}

/// A call that is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct RunningCall {
    calls: Arc<RunningCalls>,
    number: u64,
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        lock(&self.calls.0).running.remove(&self.number);
    }
}

/// Messages for a call that came outside of its stream.
#[derive(Debug)]
pub(crate) struct RelayedMessages {
    receiver: mpsc::Receiver<RelayedMessage>,
    _call: RunningCall,
}

impl RelayedMessages {
    /// The next message. The sender lives as long as this, so there is no end.
    pub(super) async fn next(&mut self) -> Option<RelayedMessage> {
        self.receiver.recv().await
    }
}

/// Messages that wait for a call whose stream is not read.
const BACKLOG: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_question_reaches_the_only_call_and_is_never_guessed() {
        let calls: Arc<RunningCalls> = Arc::default();
        let relay = |id: i64| calls.relay(id.into(), InputRequest::list_roots(), 1);
        assert!(!relay(0), "without a call");
        let mut first = calls.enter_pausing();
        assert!(relay(1));
        let second = calls.enter_pausing();
        assert!(!relay(2), "with two calls");
        drop(second);
        let plain = calls.enter();
        assert!(!relay(3), "beside a call that asks its handlers");
        drop(plain);
        calls.withdraw(&1.into());
        let asked = first.next().await.unwrap();
        assert!(matches!(asked, RelayedMessage::Question { id, .. } if id == 1.into()));
        let withdrawn = first.next().await.unwrap();
        assert!(matches!(withdrawn, RelayedMessage::Withdrawal(id) if id == 1.into()));
        for _ in 0..BACKLOG {
            assert!(relay(4));
        }
        assert!(!relay(5), "more than a call can hold");
    }
}
