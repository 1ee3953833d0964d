//! Timers: sleeps and deadlines of questions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bytes::{Bytes, BytesMut};
use sterna_types::UnixMillis;

use super::run_journal::RunJournal;
use super::state::State;
use super::waiter::{Stage, WaiterId};
use crate::journal::v1::{put_time, read_time};
use crate::journal::{Entry, Kind};
use crate::key::Key;

#[derive(Default)]
pub(super) struct Timers {
    due: BinaryHeap<Reverse<(UnixMillis, Due)>>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// A sleep or a deadline, which the journal knows by this name.
    Durable(Key),
    /// The timeout or the next try of a step that runs.
    Volatile(WaiterId),
}

impl Timers {
    pub(super) fn load(&mut self, run_journal: &RunJournal) {
        for entry in run_journal.timers() {
            self.set(entry);
        }
    }

    /// Starts the clock of a timer entry.
    pub(super) fn set(&mut self, entry: &Entry) {
        if let (Some(key), Some((_, end))) = (entry.key.timed(), read(&entry.value)) {
            self.due.push(Reverse((end, Due::Durable(key))));
        }
    }
}

impl State<'_> {
    /// When something will happen by itself.
    pub(crate) fn next_timer(&mut self) -> Option<UnixMillis> {
        while let Some(Reverse((at, due))) = self.timers.due.peek() {
            if self.is_due(due) {
                return Some(*at);
            }
            self.timers.due.pop();
        }
        None
    }

    fn is_due(&self, due: &Due) -> bool {
        match due {
            Due::Durable(key) => self.journal.find(key.timer().as_str()).is_some(),
            Due::Volatile(id) => self.waiters.get(*id).is_some(),
        }
    }

    /// Lets everything happen whose time has come by `now`.
    pub(crate) fn fire(&mut self, now: UnixMillis) {
        while let Some(Reverse((at, _))) = self.timers.due.peek()
            && *at <= now
            && let Some(Reverse((_, due))) = self.timers.due.pop()
        {
            match due {
                due if !self.is_due(&due) => {}
                Due::Durable(key) => self.elapse(&key),
                Due::Volatile(id) => self.wake(id),
            }
        }
    }

    /// Records that a sleep or a deadline has run out, unless it came too late.
    fn elapse(&mut self, key: &Key) {
        let at = self.journal.find(key.timer().as_str());
        let timer = at.and_then(|at| read(&self.journal.entry(at).value));
        let mut generation = 1;
        let mut ends = key.clone();
        while let Some(kind) = self.recorded(&ends) {
            // An answer may turn out to be no good, so a question goes on.
            if kind == Kind::Elapsed || !matches!(timer, Some((Times::Question, _))) {
                return;
            }
            generation += 1;
            ends = key.generation(generation);
        }
        let asked = self.asked.iter().map(|(key, _)| key).filter(|asked| {
            let (name, asked_generation) = asked.split_generation();
            name == key.as_str() && asked_generation > generation
        });
        if let Some(asked) = asked.max_by_key(|asked| asked.split_generation().1) {
            ends = asked.clone();
            self.fill_up_to(&ends);
        }
        self.record(None, Entry::new(ends, Kind::Elapsed, Bytes::new()));
    }

    /// Wakes the step `id` at `at`; forgotten when the run ends.
    pub(crate) fn wake_at(&mut self, at: UnixMillis, id: WaiterId) {
        self.timers.due.push(Reverse((at, Due::Volatile(id))));
    }

    /// When the question or sleep `id` runs out, if its clock has started.
    pub(crate) fn ends_at(&self, key: &Key) -> Option<UnixMillis> {
        let at = self.journal.find(key.timer().as_str())?;
        read(&self.journal.entry(at).value).map(|(_, end)| end)
    }

    /// Starts the clock of a sleep or a deadline.
    pub(super) fn arm(&mut self, id: WaiterId) {
        let Some(waiter) = self.waiters.get(id) else {
            return;
        };
        let Some(lasts) = waiter.lasts.filter(|_| waiter.stage == Stage::Open) else {
            return;
        };
        let times = match waiter.wants {
            Kind::Answer => Times::Question,
            _ => Times::Sleep,
        };
        let timer = waiter.key.timer();
        if self.has(&timer) {
            return;
        }
        let value = write(times, self.now + lasts);
        self.record(None, Entry::new(timer, Kind::Timer, value));
    }

    fn wake(&mut self, id: WaiterId) {
        if let Some(waker) = self
            .waiters
            .get_mut(id)
            .and_then(|waiter| waiter.waker.take())
        {
            self.wakes.push(waker);
        }
    }
}

/// The kind of wait that a timer ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    Question,
    Sleep,
}

fn write(times: Times, end: UnixMillis) -> Bytes {
    let mut value = BytesMut::with_capacity(8);
    value.extend_from_slice(match times {
        Times::Question => b"q",
        Times::Sleep => b"s",
    });
    put_time(&mut value, end);
    value.freeze()
}

fn read(value: &[u8]) -> Option<(Times, UnixMillis)> {
    let (times, rest) = value.split_first()?;
    let times = match times {
        b'q' => Times::Question,
        b's' => Times::Sleep,
        _ => return None,
    };
    Some((times, read_time(rest).ok()?))
}
