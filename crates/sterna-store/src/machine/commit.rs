//! The rules for a commit: the changes it makes and those it may not make.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::Control;
use super::questions::reask;
use crate::{Asked, Commit, Entry, Error, ErrorKind, Fence, Name, Phase, Question};

/// The part of a task that a store holds and a commit depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Known {
    /// The journal's values, at least those under the keys of the commit.
    pub values: BTreeMap<Name, Bytes>,
    /// Every question the task ever asked. May be left empty for a commit that
    /// neither takes answers nor asks.
    pub asked: Vec<Asked>,
}

/// The rows that a store has to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes<'a> {
    /// Entries to append to the journal.
    pub append: Vec<&'a Entry>,
    /// Answers that become [`Phase::Taken`].
    pub take: Vec<&'a Name>,
    /// Questions asked for the first time.
    pub ask: Vec<&'a Question>,
    /// Questions that become [`Phase::Open`] again.
    pub reopen: Vec<&'a Name>,
    /// Questions that become [`Phase::Withdrawn`].
    pub withdraw: Vec<Name>,
}

impl Known {
    /// Knows the journal's `values` and the questions `asked`.
    pub fn new(values: BTreeMap<Name, Bytes>, asked: Vec<Asked>) -> Self {
        Self { values, asked }
    }
}

impl Changes<'_> {
    /// Returns whether a client can see a difference.
    pub fn are_visible(&self) -> bool {
        !(self.ask.is_empty() && self.reopen.is_empty() && self.withdraw.is_empty())
    }
}

impl Control {
    /// Works out the changes of `commit`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Fenced`] as [`check`](Self::check);
    /// [`ErrorKind::Conflict`] if a key would get a second value, would name a
    /// second question, or would be asked again after its answer was taken.
    pub fn commit<'a>(
        &mut self,
        fence: Fence,
        known: &Known,
        commit: &'a Commit,
    ) -> Result<Changes<'a>, Error> {
        self.check(fence)?;
        let mut changes = Changes {
            append: fresh_entries(&known.values, &commit.entries)?,
            ..Changes::default()
        };
        let mut asked = known.asked.clone();
        for key in &commit.taken {
            let taken = asked.iter_mut().find(|asked| asked.key == *key);
            if let Some(question) = taken
                && question.phase == Phase::Answered
            {
                question.phase = Phase::Taken;
                changes.take.push(key);
            }
        }
        // A task that has ended asks no questions.
        if let Some(open) = &commit.open
            && !self.status.is_final()
        {
            let count = reask(&asked, open, &mut changes)?;
            self.asks(count);
        }
        if changes != Changes::default() {
            self.attempts = 0;
        }
        self.entries = self.entries.saturating_add(count(&changes.append));
        self.unread = self.unread.saturating_sub(count(&changes.take));
        Ok(changes)
    }
}

/// The journal that a task begins with.
///
/// # Errors
///
/// [`ErrorKind::Conflict`] if a key has two values.
pub fn opening(journal: &[Entry]) -> Result<Vec<&Entry>, Error> {
    fresh_entries(&BTreeMap::new(), journal)
}

/// The entries that the journal does not have, in order.
fn fresh_entries<'a>(
    known: &BTreeMap<Name, Bytes>,
    new: &'a [Entry],
) -> Result<Vec<&'a Entry>, Error> {
    let mut fresh = Vec::with_capacity(new.len());
    let mut seen: BTreeMap<&Name, &Bytes> = BTreeMap::new();
    for entry in new {
        let before = known
            .get(&entry.key)
            .or_else(|| seen.get(&entry.key).copied());
        match before {
            None => {
                seen.insert(&entry.key, &entry.value);
                fresh.push(entry);
            }
            Some(value) if *value == entry.value => {}
            Some(_) => {
                return Err(Error::new(
                    ErrorKind::Conflict,
                    format!("the journal has another value under {:?}", entry.key),
                ));
            }
        }
    }
    Ok(fresh)
}

fn count<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}
