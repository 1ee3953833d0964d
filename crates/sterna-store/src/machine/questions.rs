//! A key names one question for the life of a task.

use std::collections::{BTreeMap, BTreeSet};

use super::{Changes, Control};
use crate::{Answer, Error, ErrorKind, Name, Question, UnixMillis};

/// A question that was asked at some time in the life of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Asked {
    /// What makes it this question and no other.
    pub fingerprint: [u8; 16],
    /// How far it has come.
    pub phase: Phase,
}

impl Asked {
    /// A question in `phase`.
    pub const fn new(fingerprint: [u8; 16], phase: Phase) -> Self {
        Self { fingerprint, phase }
    }
}

/// How far a question has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a store maps every phase to a value of a column"
)]
pub enum Phase {
    /// It waits for an answer.
    Open,
    /// It has an answer that no worker has dealt with.
    Answered,
    /// Its answer has been dealt with.
    Taken,
    /// It is no longer asked. It may be asked again.
    Withdrawn,
}

impl Phase {
    const ALL: [Self; 4] = [Self::Open, Self::Answered, Self::Taken, Self::Withdrawn];

    /// A word for it, for a column of a database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Taken => "taken",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// The phase that is written as `word`.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == word)
    }
}

impl Control {
    /// Works out which of `answers` count, and wakes the task if one does: the
    /// first to each open question, unless the task has ended.
    ///
    /// `asked` holds every question of the task, or at least those answered.
    pub fn answer<'a>(
        &mut self,
        asked: &BTreeMap<Name, Asked>,
        answers: &'a [Answer],
        now: UnixMillis,
    ) -> Vec<&'a Answer> {
        if self.status.is_final() {
            return Vec::new();
        }
        let mut seen = BTreeSet::new();
        let is_open = |key| asked.get(key).is_some_and(|a| a.phase == Phase::Open);
        let accepted: Vec<_> = answers
            .iter()
            .filter(|answer| is_open(&answer.key) && seen.insert(&answer.key))
            .collect();
        if !accepted.is_empty() {
            let count = u32::try_from(accepted.len()).unwrap_or(u32::MAX);
            self.asks(self.open.saturating_sub(count));
            self.unread = self.unread.saturating_add(count);
            self.wake(now);
        }
        accepted
    }
}

/// Adds to `changes` what makes exactly the `wanted` questions open, and says
/// how many that are.
pub(super) fn reask<'a>(
    asked: &BTreeMap<Name, Asked>,
    wanted: &'a [Question],
    changes: &mut Changes<'a>,
) -> Result<u32, Error> {
    let mut keys = BTreeMap::new();
    let mut kept = 0;
    for question in wanted {
        let before = asked.get(&question.key);
        let twice = keys.insert(&question.key, question.fingerprint);
        let known = before.map(|asked| asked.fingerprint).or(twice);
        if known.is_some_and(|known| known != question.fingerprint) {
            return Err(reused(&question.key, "names another question"));
        }
        if twice.is_some() {
            continue;
        }
        match before.map(|asked| asked.phase) {
            None => changes.ask.push(question),
            Some(Phase::Withdrawn) => changes.reopen.push(&question.key),
            Some(Phase::Open) => kept += 1,
            // Its answer is in the inbox.
            Some(Phase::Answered) => {}
            Some(Phase::Taken) => return Err(reused(&question.key, "was answered")),
        }
    }
    changes.withdraw = asked
        .iter()
        .filter(|(key, asked)| asked.phase == Phase::Open && !keys.contains_key(key))
        .map(|(key, _)| key.clone())
        .collect();
    let open = kept + changes.ask.len() + changes.reopen.len();
    Ok(u32::try_from(open).unwrap_or(u32::MAX))
}

fn reused(key: &Name, why: &str) -> Error {
    Error::new(
        ErrorKind::Conflict,
        format!("the key {key:?} {why} in this task, ask under a fresh one"),
    )
}
