//! The journal of a run while it runs.

use bytes::Bytes;

use crate::journal::{Asked, Entry, Journal, Kind};
use crate::key::Key;
use crate::key_map::KeyMap;

/// The journal of a run: the inherited entries, then those that this run adds.
///
/// A position, once given, stays: an entry that is no longer needed is marked
/// and left out of the next journal.
#[derive(Default)]
pub(crate) struct RunJournal {
    entries: Vec<Entry>,
    marks: Vec<Mark>,
    index: KeyMap<usize>,
    inherited: usize,
    any_gone: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// Not needed any more.
    Gone,
    /// The handler has not come by.
    Unvisited,
    Visited,
}

impl RunJournal {
    pub(crate) fn new(entries: Vec<Entry>, index: KeyMap<usize>) -> Self {
        Self {
            inherited: entries.len(),
            marks: vec![Mark::Unvisited; entries.len()],
            entries,
            index,
            any_gone: false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether this run has added anything.
    pub(crate) fn has_grown(&self) -> bool {
        self.entries.len() > self.inherited
    }

    pub(crate) fn is_inherited(&self, at: usize) -> bool {
        at < self.inherited
    }

    pub(crate) fn entry(&self, at: usize) -> &Entry {
        &self.entries[at]
    }

    /// Index of `key`, if the journal has it.
    pub(crate) fn find(&self, key: &str) -> Option<usize> {
        self.index.get(key).copied()
    }

    /// `text` as a key, sharing the text of the entry of that name.
    pub(crate) fn key(&self, text: &str) -> Key {
        match self.find(text) {
            Some(at) => self.entries[at].key.clone(),
            None => Key::new(text),
        }
    }

    /// Notes that the handler has come by.
    pub(crate) fn visit(&mut self, at: usize) {
        self.marks[at] = Mark::Visited;
    }

    pub(crate) fn push(&mut self, entry: Entry) -> usize {
        let at = self.entries.len();
        if entry.kind == Kind::Memo {
            self.collapse(&entry.key);
        }
        self.index.insert(entry.key.clone(), at);
        self.entries.push(entry);
        self.marks.push(Mark::Visited);
        at
    }

    /// Leaves out everything inside a finished memo.
    fn collapse(&mut self, memo: &Key) {
        for at in 0..self.entries.len() {
            if self.entries[at].key.is_inside_memo(memo) {
                self.remove(at);
            }
        }
    }

    /// Leaves out the entry `key`, if it is there.
    pub(crate) fn discard(&mut self, key: &str) {
        if let Some(at) = self.find(key) {
            self.remove(at);
        }
    }

    fn remove(&mut self, at: usize) {
        let entry = &mut self.entries[at];
        entry.value = Bytes::new();
        self.index.remove(entry.key.as_str());
        self.marks[at] = Mark::Gone;
        self.any_gone = true;
    }

    /// Keeps of an answer only why it did not fit.
    pub(crate) fn reject(&mut self, at: usize, reason: &str) {
        let entry = &mut self.entries[at];
        entry.kind = Kind::Rejected;
        entry.value = Bytes::copy_from_slice(reason.as_bytes());
    }

    /// Timers that were set before this run.
    pub(crate) fn timers(&self) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(|entry| entry.kind == Kind::Timer)
    }

    /// Results that the handler, now at its end, has not come by.
    pub(crate) fn orphans(&self) -> impl Iterator<Item = &Entry> {
        self.marked(Mark::Unvisited)
            .filter(|entry| matches!(entry.kind, Kind::Step | Kind::Once))
    }

    fn marked(&self, wanted: Mark) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .zip(&self.marks)
            .filter(move |(_, mark)| **mark == wanted)
            .map(|(entry, _)| entry)
    }

    /// The journal as it is now.
    pub(crate) fn snapshot(&self, version: u32, asked: Vec<Asked>) -> Journal {
        Self {
            entries: self.entries.clone(),
            marks: self.marks.clone(),
            index: self.index.clone(),
            ..*self
        }
        .into_journal(version, asked)
    }

    /// The journal to go on with.
    pub(crate) fn into_journal(mut self, version: u32, asked: Vec<Asked>) -> Journal {
        if self.any_gone {
            let mut marks = self.marks.into_iter();
            self.entries
                .retain(|_| marks.next().is_some_and(|mark| mark != Mark::Gone));
            return Journal::from_parts(version, self.entries, asked)
                .expect("the index keeps keys apart");
        }
        Journal::with_index(version, self.entries, self.index, asked)
    }
}
