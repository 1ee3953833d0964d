//! The events of a run, in order.

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sterna_flow::{Observer, StepEvent};

/// The notes of a run, shared by all that take part in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes(Arc<Mutex<Taken>>);

#[derive(Debug, Default)]
struct Taken {
    round: u32,
    notes: Vec<Note>,
}

#[derive(Clone, Debug)]
pub(crate) struct Note {
    round: u32,
    who: Who,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Client,
    /// Actions of the kit on the flow.
    Kit,
    Log,
    Server,
    Step(Progress),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Began,
    Ended,
}

impl Notes {
    pub(crate) fn take(&self, who: Who, text: impl Into<String>) {
        let mut taken = self.lock();
        let (round, text) = (taken.round, text.into());
        taken.notes.push(Note { round, who, text });
    }

    /// Begins a round; returns its number.
    pub(crate) fn next_round(&self) -> u32 {
        let mut taken = self.lock();
        taken.round += 1;
        taken.round
    }

    /// Number of rounds that have begun.
    pub(crate) fn rounds(&self) -> u32 {
        self.lock().round
    }

    /// An observer that notes which steps run.
    pub(crate) fn observer(&self) -> Observer {
        let notes = self.clone();
        Observer::new(move |key, seen| match seen {
            StepEvent::Began => notes.take(Who::Step(Progress::Began), key.as_str()),
            StepEvent::Ended => notes.ended(key.as_str()),
            _ => {}
        })
    }

    fn ended(&self, key: &str) {
        let mut taken = self.lock();
        let mut steps = taken.notes.iter_mut().rev();
        let step = steps.find(|note| note.is_cut() && note.text == key);
        if let Some(step) = step {
            step.who = Who::Step(Progress::Ended);
        }
    }

    /// The step that runs at this moment.
    pub(crate) fn running(&self) -> Option<String> {
        let taken = self.lock();
        let mut notes = taken.notes.iter().rev();
        // What was cut off before the last crash runs no more.
        notes
            .find(|note| note.is_cut() || note.who == Who::Kit)
            .filter(|note| note.is_cut())
            .map(|note| note.text.clone())
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().notes.len()
    }

    /// The steps that began after the first `since` notes.
    pub(crate) fn steps_since(&self, since: usize) -> Vec<String> {
        let taken = self.lock();
        let since = taken.notes.iter().skip(since);
        let steps = since.filter(|note| matches!(note.who, Who::Step(_)));
        steps.map(|note| note.text.clone()).collect()
    }

    pub(crate) fn all(&self) -> Vec<Note> {
        self.lock().notes.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Note {
    /// The round in which the kit did this.
    pub(crate) fn struck_in(&self) -> Option<u32> {
        (self.who == Who::Kit).then_some(self.round)
    }

    fn is_cut(&self) -> bool {
        self.who == Who::Step(Progress::Began)
    }
}

/// Notes as text, round by round.
pub(crate) fn transcript(notes: &[Note]) -> String {
    let (mut text, mut round) = (String::new(), 0);
    for note in notes {
        if note.round != round {
            round = note.round;
            // Writing to a string cannot fail.
            let _ = writeln!(text, "round {round}");
        }
        let _ = writeln!(text, "  {note}");
    }
    text
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.replace('\n', "\n            ");
        match self.who {
            Who::Client => write!(f, "client    {text}"),
            Who::Kit => write!(f, "--------  {text}"),
            Who::Log => write!(f, "log       {text}"),
            Who::Server => write!(f, "server    {text}"),
            Who::Step(Progress::Began) => write!(f, "server    began {text}"),
            Who::Step(Progress::Ended) => write!(f, "server    ran {text}"),
        }
    }
}
