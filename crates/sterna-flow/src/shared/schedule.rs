//! One thing at a time: who is told, who may begin, who reacted.

use std::cmp::Reverse;
use std::sync::Arc;
use std::task::Waker;

use bytes::Bytes;

use super::leaf::{Leaf, LeafId, Stage};
use super::root::{Parked, Root};
use super::state::State;
use crate::diagnostic::Diagnostic;
use crate::journal::v1::put_number;
use crate::journal::{Entry, Kind};
use crate::key::Key;
use crate::run::Build;

/// What a future may do now that it is polled.
pub(crate) enum Turn {
    /// Put the question into words; the last answer may have been no good.
    Ask(Option<String>),
    /// Begin.
    Start,
    /// Take the entry: this is how it ended.
    Told(Entry),
    /// Wait.
    Wait,
}

/// What telling a future would take.
pub(crate) enum Next {
    /// Its blob must be fetched first.
    Fetch(LeafId, Bytes),
    /// Nothing.
    Tell(LeafId, usize),
}

impl State<'_> {
    /// A future is polled: what may it do?
    pub(super) fn turn(&mut self, id: LeafId, root: &Arc<Root>, waker: &Waker) -> Turn {
        #[cfg(test)]
        if let Some(turn) = self.misbehave(id) {
            return turn;
        }
        let Some(leaf) = self.leaves.get_mut(id) else {
            return Turn::Wait;
        };
        match leaf.stage {
            Stage::New => return self.look_for(id, root, waker),
            Stage::Missed(at) => {
                leaf.stage = Stage::Queued(at);
                self.queue.push(Reverse((at, id)));
            }
            Stage::Skipped => {
                leaf.stage = Stage::Parked;
                self.starts.push_back(id);
            }
            Stage::Unasked => return Turn::Ask(leaf.reason.clone()),
            Stage::Granted => {
                leaf.stage = Stage::Running;
                self.running += 1;
                self.event = None;
                self.fresh = true;
                return Turn::Start;
            }
            Stage::Told(at) => {
                leaf.stage = Stage::Taken(at);
                self.event = None;
                self.fresh |= !self.tape.is_inherited(at);
                let mut entry = self.tape.entry(at).clone();
                if let Some(blob) = leaf.fetched.take() {
                    entry.value = blob;
                }
                return Turn::Told(entry);
            }
            Stage::Queued(_)
            | Stage::Taken(_)
            | Stage::Open
            | Stage::Parked
            | Stage::Running
            | Stage::Recorded => {}
        }
        self.park(id, root, waker);
        Turn::Wait
    }

    /// A future is polled for the first time, or looks again.
    fn look_for(&mut self, id: LeafId, root: &Arc<Root>, waker: &Waker) -> Turn {
        match self.seek(id) {
            Err(error) => {
                self.fail(error);
                return Turn::Wait;
            }
            Ok(Some(at)) => self.enqueue(id, at),
            Ok(None) => {
                let Some(leaf) = self.leaves.get_mut(id) else {
                    return Turn::Wait;
                };
                match leaf.wants {
                    Kind::Answer => {
                        leaf.stage = Stage::Unasked;
                        return Turn::Ask(leaf.reason.clone());
                    }
                    Kind::Elapsed => {
                        leaf.stage = Stage::Open;
                        self.waiting.insert(leaf.search.key.clone(), id);
                        self.want_clock(id);
                    }
                    // What happens inside has entries of its own.
                    Kind::Memo | Kind::Race => {
                        leaf.stage = Stage::Unasked;
                        return Turn::Start;
                    }
                    _ => {
                        leaf.stage = Stage::Parked;
                        self.starts.push_back(id);
                    }
                }
            }
        }
        self.park(id, root, waker);
        Turn::Wait
    }

    pub(super) fn park(&mut self, id: LeafId, root: &Arc<Root>, waker: &Waker) {
        let Some(leaf) = self.leaves.get_mut(id) else {
            return;
        };
        if !leaf
            .waker
            .as_ref()
            .is_some_and(|known| known.will_wake(waker))
        {
            leaf.waker = Some(Parked::new(root, waker));
        }
    }

    /// Puts a question to the client, under the first name that is free.
    pub(super) fn open(&mut self, id: LeafId, request: Bytes, build: Build) {
        let Some(leaf) = self.leaves.get_mut(id) else {
            return;
        };
        leaf.stage = Stage::Open;
        leaf.question = Some(request);
        if leaf.reworded && build == Build::Same {
            self.diagnostics.push(Diagnostic::QuestionChanged {
                key: leaf.key.clone(),
                at: leaf.at,
            });
        }
        let key = leaf.search.key.clone();
        self.waiting.insert(key, id);
        self.want_clock(id);
    }

    /// Starts the clock of what does not last for ever, when its turn comes.
    fn want_clock(&mut self, id: LeafId) {
        let lasts = self
            .leaves
            .get(id)
            .filter(|leaf| leaf.lasts.is_some())
            .map(|leaf| leaf.key.timer());
        if lasts.is_some_and(|timer| !self.has(&timer)) {
            self.starts.push_back(id);
        }
    }

    pub(super) fn enqueue(&mut self, id: LeafId, at: usize) {
        if let Some(leaf) = self.leaves.get_mut(id) {
            leaf.stage = Stage::Queued(at);
            self.queue.push(Reverse((at, id)));
        }
    }

    /// Who is to be told next: whoever waits for the oldest entry.
    pub(crate) fn next_to_tell(&mut self) -> Option<Next> {
        #[cfg(test)]
        self.turn_queue_over();
        while let Some(Reverse((at, id))) = self.queue.peek().copied() {
            let leaf = self.leaves.get(id);
            if let Some(leaf) = leaf.filter(|leaf| leaf.stage == Stage::Queued(at)) {
                let entry = self.tape.entry(at);
                return Some(if entry.by_ref && leaf.fetched.is_none() {
                    Next::Fetch(id, entry.value.clone())
                } else {
                    Next::Tell(id, at)
                });
            }
            self.queue.pop();
        }
        None
    }

    /// Lets a future take its entry. Returns whom to wake.
    pub(crate) fn tell(&mut self, id: LeafId, at: usize) -> Option<Parked> {
        self.queue.pop();
        let leaf = self.leaves.get_mut(id)?;
        leaf.stage = Stage::Told(at);
        self.event = Some(id);
        leaf.waker.take()
    }

    /// Whether anything wants to begin.
    pub(crate) fn wants_start(&mut self) -> bool {
        while let Some(id) = self.starts.front() {
            if self.leaves.get(*id).is_some_and(may_start) {
                return true;
            }
            self.starts.pop_front();
        }
        false
    }

    /// Whether a future waits at a point where the run may be shed.
    pub(crate) fn is_at_checkpoint(&self) -> bool {
        self.starts.iter().any(|id| {
            self.leaves
                .get(*id)
                .is_some_and(|leaf| leaf.wants == Kind::Checkpoint)
        })
    }

    /// Lets the first that asked begin. Returns whom to wake.
    pub(crate) fn grant(&mut self) -> Option<Parked> {
        let id = self.starts.pop_front()?;
        let now = self.now;
        let leaf = self.leaves.get_mut(id)?;
        match leaf.wants {
            Kind::Answer | Kind::Elapsed => self.arm(id),
            Kind::Checkpoint => self.complete(id, Bytes::new()),
            Kind::Now => {
                let mut value = Vec::with_capacity(8);
                put_number(&mut value, now.get());
                self.complete(id, value.into());
            }
            _ => {
                leaf.stage = Stage::Granted;
                self.event = Some(id);
                return leaf.waker.take();
            }
        }
        None
    }

    fn complete(&mut self, id: LeafId, value: Bytes) {
        let Some(leaf) = self.leaves.get(id) else {
            return;
        };
        let entry = Entry::new(leaf.search.key.clone(), leaf.wants, value);
        self.record(Some(id), entry);
    }

    /// Whether the last one that was told or allowed something has not reacted.
    pub(crate) fn has_unanswered_event(&self) -> bool {
        self.event.is_some()
    }

    /// Gives up on a future that nobody polls; it queues again when somebody does.
    pub(crate) fn give_up_on_event(&mut self) {
        let Some(leaf) = self.event.take().and_then(|id| self.leaves.get_mut(id)) else {
            return;
        };
        match leaf.stage {
            Stage::Told(at) => leaf.stage = Stage::Missed(at),
            Stage::Granted => leaf.stage = Stage::Skipped,
            _ => {}
        }
    }

    /// What the journal has under `key`, or will have as soon as it is durable.
    pub(super) fn recorded(&self, key: &Key) -> Option<Kind> {
        let unwritten = self.unwritten.iter().map(|(entry, _)| entry);
        let entry = match self.tape.find(key.as_str()) {
            Some(at) => Some(self.tape.entry(at)),
            None => unwritten.into_iter().find(|entry| entry.key == *key),
        };
        entry.map(Entry::kind)
    }

    pub(crate) fn has(&self, key: &Key) -> bool {
        self.recorded(key).is_some()
    }
}

fn may_start(leaf: &Leaf) -> bool {
    matches!(leaf.stage, Stage::Parked) || (leaf.stage == Stage::Open && leaf.lasts.is_some())
}
