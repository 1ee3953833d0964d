//! One thing at a time: who is told, who may begin, who reacted.

use std::cmp::Reverse;
use std::sync::Arc;
use std::task::Waker;

use bytes::Bytes;

use super::root::{CountedWaker, Root};
use super::state::State;
use super::waiter::{Stage, Waiter, WaiterId};
use crate::diagnostic::Diagnostic;
use crate::journal::v1::put_time;
use crate::journal::{Entry, Kind};
use crate::key::Key;
use crate::run::BuildMatch;

/// The next action that a polled future may take.
pub(crate) enum Permission {
    /// Put the question into words; the last answer may have been no good.
    Ask(Option<String>),
    /// Begin.
    Start,
    /// Take the entry: this is how it ended.
    Told(Entry),
    /// Wait.
    Wait,
}

/// The work before a future can be told its entry.
pub(crate) enum Delivery {
    /// Its blob must be fetched first.
    Fetch(WaiterId, Bytes),
    /// Nothing.
    Ready(WaiterId, usize),
}

impl State<'_> {
    /// Polls a future; returns the action it may take.
    pub(super) fn permission(
        &mut self,
        id: WaiterId,
        root: &Arc<Root>,
        waker: &Waker,
    ) -> Permission {
        let Some(waiter) = self.waiters.get_mut(id) else {
            return Permission::Wait;
        };
        match waiter.stage {
            Stage::New => return self.look_for(id, root, waker),
            Stage::Missed(at) => {
                waiter.stage = Stage::Queued(at);
                self.queue.push(Reverse((at, id)));
            }
            Stage::Skipped => {
                waiter.stage = Stage::Parked;
                self.starts.push_back(id);
            }
            Stage::Unasked => return Permission::Ask(waiter.reason.clone()),
            Stage::Granted => {
                waiter.stage = Stage::Running;
                self.running += 1;
                self.event = None;
                self.fresh = true;
                return Permission::Start;
            }
            Stage::Told(at) => {
                waiter.stage = Stage::Taken(at);
                self.event = None;
                self.fresh |= !self.journal.is_inherited(at);
                let mut entry = self.journal.entry(at).clone();
                if let Some(blob) = waiter.fetched.take() {
                    entry.value = blob;
                }
                return Permission::Told(entry);
            }
            Stage::Queued(_)
            | Stage::Taken(_)
            | Stage::Open
            | Stage::Parked
            | Stage::Running
            | Stage::Recorded => {}
        }
        self.park(id, root, waker);
        Permission::Wait
    }

    /// A future is polled for the first time, or looks again.
    fn look_for(&mut self, id: WaiterId, root: &Arc<Root>, waker: &Waker) -> Permission {
        match self.seek(id) {
            Err(error) => {
                self.fail(error);
                return Permission::Wait;
            }
            Ok(Some(at)) => self.enqueue(id, at),
            Ok(None) => {
                let Some(waiter) = self.waiters.get_mut(id) else {
                    return Permission::Wait;
                };
                match waiter.wants {
                    Kind::Answer => {
                        waiter.stage = Stage::Unasked;
                        return Permission::Ask(waiter.reason.clone());
                    }
                    Kind::Elapsed => {
                        waiter.stage = Stage::Open;
                        self.waiting.insert(waiter.search.key.clone(), id);
                        self.want_clock(id);
                    }
                    // What happens inside has entries of its own.
                    Kind::Memo | Kind::Race => {
                        waiter.stage = Stage::Unasked;
                        return Permission::Start;
                    }
                    _ => {
                        waiter.stage = Stage::Parked;
                        self.starts.push_back(id);
                    }
                }
            }
        }
        self.park(id, root, waker);
        Permission::Wait
    }

    pub(super) fn park(&mut self, id: WaiterId, root: &Arc<Root>, waker: &Waker) {
        let Some(waiter) = self.waiters.get_mut(id) else {
            return;
        };
        if !waiter
            .waker
            .as_ref()
            .is_some_and(|known| known.will_wake(waker))
        {
            waiter.waker = Some(CountedWaker::new(root, waker));
        }
    }

    /// Puts a question to the client, under the first name that is free.
    pub(super) fn open(&mut self, id: WaiterId, request: Bytes, build: BuildMatch) {
        let Some(waiter) = self.waiters.get_mut(id) else {
            return;
        };
        waiter.stage = Stage::Open;
        waiter.question = Some(request);
        if waiter.reworded && build == BuildMatch::Same {
            self.diagnostics.push(Diagnostic::QuestionChanged {
                key: waiter.key.clone(),
                at: waiter.at,
            });
        }
        let key = waiter.search.key.clone();
        self.waiting.insert(key, id);
        self.want_clock(id);
    }

    /// Asks for the clock of a sleep or a deadline, to start when its turn comes.
    fn want_clock(&mut self, id: WaiterId) {
        let lasts = self
            .waiters
            .get(id)
            .filter(|waiter| waiter.lasts.is_some())
            .map(|waiter| waiter.key.timer());
        if lasts.is_some_and(|timer| !self.has(&timer)) {
            self.starts.push_back(id);
        }
    }

    pub(super) fn enqueue(&mut self, id: WaiterId, at: usize) {
        if let Some(waiter) = self.waiters.get_mut(id) {
            waiter.stage = Stage::Queued(at);
            self.queue.push(Reverse((at, id)));
        }
    }

    /// The next future to be told: the one that waits for the oldest entry.
    pub(crate) fn next_delivery(&mut self) -> Option<Delivery> {
        while let Some(Reverse((at, id))) = self.queue.peek().copied() {
            let waiter = self.waiters.get(id);
            if let Some(waiter) = waiter.filter(|waiter| waiter.stage == Stage::Queued(at)) {
                let entry = self.journal.entry(at);
                return Some(if entry.by_ref && waiter.fetched.is_none() {
                    Delivery::Fetch(id, entry.value.clone())
                } else {
                    Delivery::Ready(id, at)
                });
            }
            self.queue.pop();
        }
        None
    }

    /// Lets a future take its entry. Returns whom to wake.
    pub(crate) fn deliver(&mut self, id: WaiterId, at: usize) -> Option<CountedWaker> {
        self.queue.pop();
        let waiter = self.waiters.get_mut(id)?;
        waiter.stage = Stage::Told(at);
        self.event = Some(id);
        waiter.waker.take()
    }

    /// Returns whether a future waits to begin.
    pub(crate) fn wants_start(&mut self) -> bool {
        while let Some(id) = self.starts.front() {
            if self.waiters.get(*id).is_some_and(may_start) {
                return true;
            }
            self.starts.pop_front();
        }
        false
    }

    /// Returns whether a future waits at a point where the run may be shed.
    pub(crate) fn is_at_checkpoint(&self) -> bool {
        self.starts.iter().any(|id| {
            self.waiters
                .get(*id)
                .is_some_and(|waiter| waiter.wants == Kind::Checkpoint)
        })
    }

    /// Lets the first that asked begin. Returns whom to wake.
    pub(crate) fn start_next(&mut self) -> Option<CountedWaker> {
        let id = self.starts.pop_front()?;
        let now = self.now;
        let waiter = self.waiters.get_mut(id)?;
        match waiter.wants {
            Kind::Answer | Kind::Elapsed => self.arm(id),
            Kind::Checkpoint => self.complete(id, Bytes::new()),
            Kind::Now => {
                let mut value = Vec::with_capacity(8);
                put_time(&mut value, now);
                self.complete(id, value.into());
            }
            _ => {
                waiter.stage = Stage::Granted;
                self.event = Some(id);
                return waiter.waker.take();
            }
        }
        None
    }

    fn complete(&mut self, id: WaiterId, value: Bytes) {
        let Some(waiter) = self.waiters.get(id) else {
            return;
        };
        let entry = Entry::new(waiter.search.key.clone(), waiter.wants, value);
        self.record(Some(id), entry);
    }

    /// Returns whether the future that was last told or started has not reacted yet.
    pub(crate) fn has_unanswered_event(&self) -> bool {
        self.event.is_some()
    }

    /// Gives up on a future that is not polled; it queues again at its next poll.
    pub(crate) fn give_up_on_event(&mut self) {
        let Some(waiter) = self.event.take().and_then(|id| self.waiters.get_mut(id)) else {
            return;
        };
        match waiter.stage {
            Stage::Told(at) => waiter.stage = Stage::Missed(at),
            Stage::Granted => waiter.stage = Stage::Skipped,
            _ => {}
        }
    }

    /// The kind under `key` in the journal, or that of an entry not yet durable.
    pub(super) fn recorded(&self, key: &Key) -> Option<Kind> {
        let unwritten = self.unwritten.iter().map(|(entry, _)| entry);
        let entry = match self.journal.find(key.as_str()) {
            Some(at) => Some(self.journal.entry(at)),
            None => unwritten.into_iter().find(|entry| entry.key == *key),
        };
        entry.map(Entry::kind)
    }

    pub(crate) fn has(&self, key: &Key) -> bool {
        self.recorded(key).is_some()
    }
}

fn may_start(waiter: &Waiter) -> bool {
    matches!(waiter.stage, Stage::Parked) || (waiter.stage == Stage::Open && waiter.lasts.is_some())
}
