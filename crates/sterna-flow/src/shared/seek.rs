//! Which entry of the journal, if any, belongs to a future.

use super::leaf::{Changed, Leaf, LeafId, Search};
use super::state::State;
use super::tape::Tape;
use crate::error::Error;
use crate::journal::{Entry, Kind};

impl State<'_> {
    /// The entry that belongs to the future `id`.
    ///
    /// An entry that was recorded for another question or another input is
    /// passed over, and the next generation of the name is looked for. Without
    /// any, `search` ends at the first name that is free.
    pub(super) fn seek(&mut self, id: LeafId) -> Result<Option<usize>, Error> {
        let Some(leaf) = self.leaves.get_mut(id) else {
            return Ok(None);
        };
        while let Some(at) = self.tape.find(leaf.search.key.as_str()) {
            if try_entry(&mut self.tape, at, leaf)? {
                return Ok(Some(at));
            }
            leaf.search.advance(&leaf.key);
        }
        if let Some(alias) = leaf.alias.clone() {
            let mut search = Search::new(&alias);
            while let Some(at) = self.tape.find(search.key.as_str()) {
                if try_entry(&mut self.tape, at, leaf)? {
                    return Ok(Some(at));
                }
                search.advance(&alias);
            }
        }
        // A key that the client has seen stands for what it was shown.
        for (key, fingerprint) in self.asked.iter() {
            let (name, generation) = key.split_generation();
            if name != leaf.key.as_str() || self.tape.find(key.as_str()).is_some() {
                continue;
            }
            if Some(*fingerprint) == leaf.pin {
                leaf.search.go_to(generation, &leaf.key);
            } else {
                leaf.reworded = true;
                leaf.search.go_to(generation + 1, &leaf.key);
            }
        }
        Ok(None)
    }
}

/// Whether the entry there is the one that `leaf` waits for.
fn try_entry(tape: &mut Tape, at: usize, leaf: &mut Leaf) -> Result<bool, Error> {
    tape.visit(at);
    match fit(tape.entry(at), leaf)? {
        Fit::Fits => return Ok(true),
        Fit::Rejected(reason) => leaf.reason = Some(reason).filter(|reason| !reason.is_empty()),
        Fit::Stale => leaf.reworded |= !tape.is_inherited(at),
    }
    Ok(false)
}

enum Fit {
    Fits,
    Rejected(String),
    Stale,
}

fn fit(entry: &Entry, leaf: &Leaf) -> Result<Fit, Error> {
    let same = entry.fingerprint == leaf.pin;
    match (entry.kind, leaf.wants) {
        (Kind::Answer, Kind::Answer) if same => Ok(Fit::Fits),
        (Kind::Answer, Kind::Answer) => Ok(Fit::Stale),
        (Kind::Rejected, Kind::Answer) => Ok(Fit::Rejected(
            String::from_utf8_lossy(&entry.value).into_owned(),
        )),
        // A build that took the deadline away must ask once more.
        (Kind::Elapsed, Kind::Answer) if leaf.lasts.is_none() => Ok(Fit::Stale),
        (Kind::Elapsed, Kind::Answer) => Ok(Fit::Fits),
        (found, wanted) if found != wanted => Err(Error::KindChanged {
            key: entry.key.clone(),
            found,
            wanted,
        }),
        _ if same || leaf.pin.is_none() || entry.fingerprint.is_none() => Ok(Fit::Fits),
        _ => match leaf.changed {
            Changed::Reuse => Ok(Fit::Fits),
            Changed::Rerun => Ok(Fit::Stale),
            Changed::Fail => Err(Error::InputChanged {
                key: entry.key.clone(),
            }),
        },
    }
}
