//! Which entry of the journal, if any, belongs to a future.

use super::run_journal::RunJournal;
use super::state::State;
use super::waiter::{Changed, Search, Waiter, WaiterId};
use crate::error::Error;
use crate::journal::{Entry, Kind};

impl State<'_> {
    /// The entry that belongs to the future `id`.
    ///
    /// An entry that was recorded for another question or another input is
    /// passed over, and the next generation of the name is looked for. Without
    /// any, `search` ends at the first name that is free.
    pub(super) fn seek(&mut self, id: WaiterId) -> Result<Option<usize>, Error> {
        let Some(waiter) = self.waiters.get_mut(id) else {
            return Ok(None);
        };
        while let Some(at) = self.journal.find(waiter.search.key.as_str()) {
            if try_entry(&mut self.journal, at, waiter)? {
                return Ok(Some(at));
            }
            waiter.search.advance(&waiter.key);
        }
        if let Some(alias) = waiter.alias.clone() {
            let mut search = Search::new(&alias);
            while let Some(at) = self.journal.find(search.key.as_str()) {
                if try_entry(&mut self.journal, at, waiter)? {
                    return Ok(Some(at));
                }
                search.advance(&alias);
            }
        }
        // A key that the client has seen stands for what it was shown.
        for (key, fingerprint) in self.asked.iter() {
            let (name, generation) = key.split_generation();
            if name != waiter.key.as_str() || self.journal.find(key.as_str()).is_some() {
                continue;
            }
            if Some(*fingerprint) == waiter.pin {
                waiter.search.go_to(generation, &waiter.key);
            } else {
                waiter.reworded = true;
                waiter.search.go_to(generation + 1, &waiter.key);
            }
        }
        Ok(None)
    }
}

/// Returns whether the entry there is the one that `waiter` waits for.
fn try_entry(run_journal: &mut RunJournal, at: usize, waiter: &mut Waiter) -> Result<bool, Error> {
    run_journal.visit(at);
    match fit(run_journal.entry(at), waiter)? {
        Fit::Fits => return Ok(true),
        Fit::Rejected(reason) => waiter.reason = Some(reason).filter(|reason| !reason.is_empty()),
        Fit::Stale => waiter.reworded |= !run_journal.is_inherited(at),
    }
    Ok(false)
}

enum Fit {
    Fits,
    Rejected(String),
    Stale,
}

fn fit(entry: &Entry, waiter: &Waiter) -> Result<Fit, Error> {
    let same = entry.fingerprint == waiter.pin;
    match (entry.kind, waiter.wants) {
        (Kind::Answer, Kind::Answer) if same => Ok(Fit::Fits),
        (Kind::Answer, Kind::Answer) => Ok(Fit::Stale),
        (Kind::Rejected, Kind::Answer) => Ok(Fit::Rejected(
            String::from_utf8_lossy(&entry.value).into_owned(),
        )),
        // A build that took the deadline away must ask once more.
        (Kind::Elapsed, Kind::Answer) if waiter.lasts.is_none() => Ok(Fit::Stale),
        (Kind::Elapsed, Kind::Answer) => Ok(Fit::Fits),
        (found, wanted) if found != wanted => Err(Error::KindChanged {
            key: entry.key.clone(),
            found,
            wanted,
        }),
        _ if same || waiter.pin.is_none() || entry.fingerprint.is_none() => Ok(Fit::Fits),
        _ => match waiter.changed {
            Changed::Reuse => Ok(Fit::Fits),
            Changed::Rerun => Ok(Fit::Stale),
            Changed::Fail => Err(Error::InputChanged {
                key: entry.key.clone(),
            }),
        },
    }
}
