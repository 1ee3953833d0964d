//! Names of futures, assigned when a future is constructed, never later.

use std::panic::Location;

use super::run_journal::RunJournal;
use crate::error::Error;
use crate::journal::Limits;
use crate::key::{Key, write_key, write_ordinal};
use crate::key_map::KeyMap;

/// The names that a run has used.
#[derive(Default)]
pub(crate) struct Names {
    ids: KeyMap<NameId>,
    uses: Vec<Use>,
    text: String,
}

/// Which name, in the order of first use.
#[derive(Clone, Copy)]
pub(crate) struct NameId(usize);

struct Use {
    count: u32,
    in_progress: Option<&'static Location<'static>>,
}

/// A name for one future.
pub(crate) struct Name {
    /// Its key in the journal.
    pub(crate) key: Key,
    /// Id of the name, the same for all its uses.
    pub(crate) id: NameId,
}

impl Names {
    /// The next name for `name` in `scope`. `mark` sets apart things that may
    /// be called alike, such as a step and its compensation.
    pub(crate) fn next(
        &mut self,
        run_journal: &RunJournal,
        limits: &Limits,
        scope: Option<&Key>,
        name: &str,
        mark: Option<char>,
    ) -> Result<Name, Error> {
        self.text.clear();
        let room = scope.map_or(0, |scope| scope.as_str().len() + 1);
        self.text.reserve(room + name.len() + ROOM);
        write_key(&mut self.text, scope, name);
        self.text.extend(mark);
        let limit = limits.key_bytes.saturating_sub(ROOM);
        if name.is_empty() || self.text.len() > limit {
            let key = Key::new(&self.text);
            return Err(Error::InvalidKey { key, limit });
        }
        if let Some(id) = self.ids.get(self.text.as_str()).copied() {
            let usage = &mut self.uses[id.0];
            usage.count += 1;
            write_ordinal(&mut self.text, usage.count);
            let key = run_journal.key(&self.text);
            return Ok(Name { key, id });
        }
        let key = run_journal.key(&self.text);
        let id = NameId(self.uses.len());
        self.uses.push(Use {
            count: 1,
            in_progress: None,
        });
        self.ids.insert(key.clone(), id);
        Ok(Name { key, id })
    }

    /// Notes that a future of that name exists.
    ///
    /// Two at a time are an error: which of them is the second depends on the
    /// order of polls, and that is not the same in a replay.
    pub(crate) fn begin(
        &mut self,
        name: &Name,
        at: &'static Location<'static>,
    ) -> Result<(), Error> {
        let usage = &mut self.uses[name.id.0];
        if let Some(first) = usage.in_progress {
            return Err(Error::DuplicateKey {
                key: name.key.without_ordinal(),
                first,
                second: at,
            });
        }
        usage.in_progress = Some(at);
        Ok(())
    }

    /// Notes that it is gone.
    pub(crate) fn end(&mut self, name: NameId) {
        self.uses[name.0].in_progress = None;
    }
}

/// Bytes that ordinals, generations and marks may add to a name.
const ROOM: usize = 32;
