//! Recording of events in the journal.

use bytes::Bytes;
use sterna_types::UnixMillis;

use super::state::State;
use super::waiter::{Stage, WaiterId};
use crate::error::Error;
use crate::journal::{Entry, Kind};
use crate::key::Key;

impl State<'_> {
    /// Puts `entry` into the journal, at once or as soon as it is durable.
    /// `id` is the future that will be told of it.
    pub(crate) fn record(&mut self, id: Option<WaiterId>, entry: Entry) {
        let limit = self.limits.entries;
        if self.journal.len() + self.unwritten.len() >= limit {
            let key = entry.key;
            self.fail(Error::TooManyEntries { key, limit });
            return;
        }
        if let Some(waiter) = id.and_then(|id| self.waiters.get_mut(id)) {
            if waiter.stage == Stage::Running {
                self.running -= 1;
            }
            waiter.stage = Stage::Recorded;
        }
        if self.write_ahead {
            self.unwritten.push_back((entry, id));
        } else {
            self.append(id, entry);
        }
    }

    /// An entry is durable, as far as this way of running makes it so.
    pub(crate) fn append(&mut self, id: Option<WaiterId>, entry: Entry) {
        let key = entry.key.clone();
        if entry.kind == Kind::Timer {
            self.timers.set(&entry);
        }
        let at = self.journal.push(entry);
        match id {
            Some(id) => self.enqueue(id, at),
            None => self.hand_over(&key),
        }
    }

    /// Hands an entry from outside to the future that waits for it, if there is one.
    fn hand_over(&mut self, key: &Key) {
        let Some((_, id)) = self.waiting.remove(key.as_str()) else {
            return;
        };
        match self.seek(id) {
            Ok(Some(at)) => self.enqueue(id, at),
            Ok(None) => {
                if let Some(waiter) = self.waiters.get_mut(id) {
                    waiter.stage = Stage::New;
                    self.wakes.extend(waiter.waker.take());
                }
            }
            Err(error) => self.fail(error),
        }
    }

    /// Takes the client's answer to a question that was put to it.
    ///
    /// A timer that ran out before the answer is recorded first, so that a late
    /// answer is late in every replay.
    pub(crate) fn answer(&mut self, key: &str, value: Bytes, at: UnixMillis) -> bool {
        self.fire(at);
        let Some((key, fingerprint)) = self.asked.remove(key) else {
            return false;
        };
        if self.has(&key) {
            return false;
        }
        self.fill_up_to(&key);
        let mut entry = Entry::new(key, Kind::Answer, value);
        entry.fingerprint = Some(fingerprint);
        self.record(None, entry);
        true
    }

    /// Closes the generations before `key` that were asked in other words and
    /// never answered, so that a search gets past them.
    pub(super) fn fill_up_to(&mut self, key: &Key) {
        let (name, last) = key.split_generation();
        if last == 1 {
            return;
        }
        let name = Key::new(name);
        for generation in 1..last {
            let earlier = name.generation(generation);
            if !self.has(&earlier) {
                self.record(None, Entry::new(earlier, Kind::Rejected, Bytes::new()));
            }
        }
    }

    /// The answer that a future took does not fit its question: ask again.
    pub(super) fn reject(&mut self, id: WaiterId, reason: &str) {
        let Some(waiter) = self.waiters.get_mut(id) else {
            return;
        };
        if let Stage::Taken(at) = waiter.stage {
            self.journal.reject(at, reason);
        }
        waiter.stage = Stage::New;
    }

    /// The result that a future took cannot be used: run again.
    pub(super) fn run_again(&mut self, id: WaiterId) {
        if let Some(waiter) = self.waiters.get_mut(id) {
            waiter.stage = Stage::New;
            waiter.alias = None;
            waiter.search.advance(&waiter.key);
        }
    }
}
