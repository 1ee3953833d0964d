//! A key names one question for the life of a task.

use std::collections::{BTreeMap, BTreeSet};

use super::{Changes, Control};
use crate::{Answer, Asked, Error, ErrorKind, Name, Phase, Question, UnixMillis};

impl Control {
    /// Works out which of `answers` count, and wakes the task if one does: the
    /// first to each open question, unless the task has ended.
    ///
    /// `asked` holds every question of the task, or at least those answered.
    pub fn answer<'a>(
        &mut self,
        asked: &[Asked],
        answers: &'a [Answer],
        now: UnixMillis,
    ) -> Vec<&'a Answer> {
        if self.status.is_final() {
            return Vec::new();
        }
        let mut seen = BTreeSet::new();
        let open: BTreeSet<_> = asked
            .iter()
            .filter(|asked| asked.phase == Phase::Open)
            .map(|asked| &asked.key)
            .collect();
        let accepted: Vec<_> = answers
            .iter()
            .filter(|answer| open.contains(&answer.key) && seen.insert(&answer.key))
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

/// Adds the changes to `changes` that leave exactly the `wanted` questions open,
/// and returns their number.
pub(super) fn reask<'a>(
    asked: &[Asked],
    wanted: &'a [Question],
    changes: &mut Changes<'a>,
) -> Result<u32, Error> {
    let known: BTreeMap<_, _> = asked.iter().map(|asked| (&asked.key, asked)).collect();
    let mut keys = BTreeMap::new();
    let mut kept = 0;
    for question in wanted {
        let before = known.get(&question.key);
        let twice = keys.insert(&question.key, question.fingerprint);
        let first = before.map(|asked| asked.fingerprint).or(twice);
        if first.is_some_and(|first| first != question.fingerprint) {
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
        .filter(|asked| asked.phase == Phase::Open && !keys.contains_key(&asked.key))
        .map(|asked| asked.key.clone())
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
