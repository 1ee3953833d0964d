//! Which entry of the journal, if any, belongs to a future.

use super::leaf::{Changed, Leaf, LeafId, Search};
use super::state::State;
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
        let mut search = leaf.search.clone();
        let mut found = look(&mut self.tape, leaf, &mut search)?;
        leaf.search = search;
        if found.is_none()
            && let Some(alias) = leaf.alias.clone()
        {
            found = look(&mut self.tape, leaf, &mut Search::new(alias))?;
        }
        Ok(found)
    }
}

fn look(
    tape: &mut super::tape::Tape,
    leaf: &mut Leaf,
    search: &mut Search,
) -> Result<Option<usize>, Error> {
    while let Some(at) = tape.find(search.key.as_str()) {
        tape.visit(at);
        match fit(tape.entry(at), leaf)? {
            Fit::Fits => return Ok(Some(at)),
            Fit::Rejected(reason) => leaf.reason = Some(reason),
            Fit::Stale => search.skipped_new |= !tape.is_inherited(at),
        }
        search.advance();
    }
    Ok(None)
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
