//! The journal of a run while it runs.

use std::collections::HashMap;

use bytes::Bytes;

use crate::journal::{Asked, Entry, Journal, Kind};
use crate::key::Key;

/// The journal of a run: what was inherited, then what this run adds.
///
/// A position, once given, stays: an entry that is no longer needed is marked
/// and left out of the next journal.
#[derive(Default)]
pub(crate) struct Tape {
    lines: Vec<Line>,
    index: HashMap<Key, usize>,
    inherited: usize,
    any_gone: bool,
}

struct Line {
    entry: Entry,
    visited: bool,
    gone: bool,
}

impl Tape {
    pub(crate) fn new(entries: Vec<Entry>, index: HashMap<Key, usize>) -> Self {
        Self {
            inherited: entries.len(),
            lines: entries.into_iter().map(Line::new).collect(),
            index,
            any_gone: false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether this run has added anything.
    pub(crate) fn has_grown(&self) -> bool {
        self.lines.len() > self.inherited
    }

    pub(crate) fn is_inherited(&self, at: usize) -> bool {
        at < self.inherited
    }

    pub(crate) fn entry(&self, at: usize) -> &Entry {
        &self.lines[at].entry
    }

    /// Where `key` is, if the journal has it.
    pub(crate) fn find(&self, key: &str) -> Option<usize> {
        self.index.get(key).copied()
    }

    /// `text` as a key, sharing the text of the entry of that name.
    pub(crate) fn key(&self, text: &str) -> Key {
        match self.index.get_key_value(text) {
            Some((key, _)) => key.clone(),
            None => Key::new(text),
        }
    }

    /// Notes that the handler has come by.
    pub(crate) fn visit(&mut self, at: usize) {
        self.lines[at].visited = true;
    }

    pub(crate) fn push(&mut self, entry: Entry) -> usize {
        let at = self.lines.len();
        if entry.kind == Kind::Memo {
            self.collapse(&entry.key);
        }
        self.index.insert(entry.key.clone(), at);
        self.lines.push(Line::new(entry));
        at
    }

    /// Leaves out everything inside a finished memo.
    fn collapse(&mut self, memo: &Key) {
        for at in 0..self.lines.len() {
            if self.lines[at].entry.key.is_inside_memo(memo) {
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
        let line = &mut self.lines[at];
        line.gone = true;
        line.entry.value = Bytes::new();
        self.any_gone = true;
        self.index.remove(line.entry.key.as_str());
    }

    /// Keeps of an answer only why it did not fit.
    pub(crate) fn reject(&mut self, at: usize, reason: &str) {
        let entry = &mut self.lines[at].entry;
        entry.kind = Kind::Rejected;
        entry.value = Bytes::copy_from_slice(reason.as_bytes());
    }

    /// Timers that were set before this run.
    pub(crate) fn timers(&self) -> impl Iterator<Item = &Entry> {
        self.lines
            .iter()
            .map(|line| &line.entry)
            .filter(|entry| entry.kind == Kind::Timer)
    }

    /// Results that the handler, now at its end, has not come by.
    pub(crate) fn orphans(&self) -> impl Iterator<Item = &Entry> {
        self.lines[..self.inherited]
            .iter()
            .filter(|line| !line.visited && !line.gone)
            .map(|line| &line.entry)
            .filter(|entry| matches!(entry.kind, Kind::Step | Kind::Once))
    }

    /// What this run has added and kept.
    #[cfg(test)]
    pub(crate) fn news(&self) -> impl Iterator<Item = &Entry> {
        let news = self.lines[self.inherited..].iter();
        news.filter(|line| !line.gone).map(|line| &line.entry)
    }

    /// The journal to go on with.
    pub(crate) fn snapshot(&self, version: u32, asked: Vec<Asked>) -> Journal {
        let entries = self
            .lines
            .iter()
            .filter(|line| !line.gone)
            .map(|line| line.entry.clone())
            .collect();
        Journal::from_parts(version, entries, asked).expect("the index keeps keys apart")
    }
}

impl Line {
    const fn new(entry: Entry) -> Self {
        Self {
            entry,
            visited: false,
            gone: false,
        }
    }
}
