//! How things get into the journal.

use bytes::Bytes;

use super::leaf::{LeafId, Stage};
use super::state::State;
use crate::error::Error;
use crate::journal::{Entry, Kind};
use crate::key::Key;
use crate::time::UnixMillis;

impl State<'_> {
    /// Puts `entry` into the journal, at once or as soon as it is durable.
    /// `id` is the future that will be told of it.
    pub(crate) fn record(&mut self, id: Option<LeafId>, entry: Entry) {
        let limit = self.limits.entries;
        if self.tape.len() + self.unwritten.len() >= limit {
            let key = entry.key;
            self.fail(Error::TooManyEntries { key, limit });
            return;
        }
        if let Some(leaf) = id.and_then(|id| self.leaves.get_mut(id)) {
            if leaf.stage == Stage::Running {
                self.running -= 1;
            }
            leaf.stage = Stage::Recorded;
        }
        #[cfg(test)]
        if let Some(id) = id
            && self.tells_too_early(id, &entry)
        {
            return;
        }
        if self.write_ahead {
            self.unwritten.push_back((entry, id));
        } else {
            self.append(id, entry);
        }
    }

    /// An entry is durable, as far as this way of running makes it so.
    pub(crate) fn append(&mut self, id: Option<LeafId>, entry: Entry) {
        let key = entry.key.clone();
        #[cfg(test)]
        if self.tape.find(key.as_str()).is_some() {
            return;
        }
        if entry.kind == Kind::Timer {
            self.timers.set(&entry);
        }
        let at = self.tape.push(entry);
        match id {
            Some(id) => self.enqueue(id, at),
            None => self.hand_over(&key),
        }
    }

    /// An entry came from outside; somebody may wait for it.
    fn hand_over(&mut self, key: &Key) {
        let Some((_, id)) = self.waiting.remove(key.as_str()) else {
            return;
        };
        match self.seek(id) {
            Ok(Some(at)) => self.enqueue(id, at),
            Ok(None) => {
                if let Some(leaf) = self.leaves.get_mut(id) {
                    leaf.stage = Stage::New;
                    self.wakes.extend(leaf.waker.take());
                }
            }
            Err(error) => self.fail(error),
        }
    }

    /// Takes the client's answer to a question that was put to it.
    ///
    /// What ran out before the answer came is recorded first, so that a late
    /// answer is late in every replay.
    pub(crate) fn answer(&mut self, key: &str, value: Bytes, at: UnixMillis) -> bool {
        #[cfg(test)]
        let at = match self.mutant {
            Some(crate::tests::Mutant::LateTimers) => UnixMillis::default(),
            _ => at,
        };
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
    pub(super) fn reject(&mut self, id: LeafId, reason: &str) {
        let Some(leaf) = self.leaves.get_mut(id) else {
            return;
        };
        if let Stage::Taken(at) = leaf.stage {
            self.tape.reject(at, reason);
        }
        leaf.stage = Stage::New;
    }

    /// The result that a future took cannot be used: run again.
    pub(super) fn run_again(&mut self, id: LeafId) {
        if let Some(leaf) = self.leaves.get_mut(id) {
            leaf.stage = Stage::New;
            leaf.alias = None;
            leaf.search.advance(&leaf.key);
        }
    }
}
