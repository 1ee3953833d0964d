//! Names of futures, assigned when a future is constructed, never later.

use std::panic::Location;

use super::run_journal::RunJournal;
use crate::error::Error;
use crate::journal::Limits;
use crate::key::{Key, is_written_as_is, write_key, write_ordinal};
use crate::key_map::KeyMap;

/// The names that a run has used.
#[derive(Default)]
pub(crate) struct Names {
    /// By the name without an ordinal.
    uses: KeyMap<Use>,
    text: String,
}

struct Use {
    count: u32,
    in_progress: Option<&'static Location<'static>>,
}

impl Names {
    /// The key of the next use of `name` in `scope`. `mark` sets apart things
    /// that may be called alike, such as a step and its compensation.
    pub(crate) fn next(
        &mut self,
        run_journal: &RunJournal,
        limits: &Limits,
        scope: Option<&Key>,
        name: &str,
        mark: Option<char>,
    ) -> Result<Key, Error> {
        self.text.clear();
        let is_plain = scope.is_none() && mark.is_none() && is_written_as_is(name);
        if !is_plain {
            let room = scope.map_or(0, |scope| scope.as_str().len() + 1);
            self.text.reserve(room + name.len() + ROOM);
            write_key(&mut self.text, scope, name);
            self.text.extend(mark);
        }
        let text = if is_plain { name } else { &self.text };
        let limit = limits.key_bytes.saturating_sub(ROOM);
        if name.is_empty() || text.len() > limit {
            let key = Key::new(text);
            return Err(Error::InvalidKey { key, limit });
        }
        if let Some(usage) = self.uses.get_mut(text) {
            usage.count += 1;
            if is_plain {
                self.text.push_str(name);
            }
            write_ordinal(&mut self.text, usage.count);
            return Ok(run_journal.key(&self.text));
        }
        let key = run_journal.key(text);
        let first = Use {
            count: 1,
            in_progress: None,
        };
        self.uses.insert(key.clone(), first);
        Ok(key)
    }

    /// Notes that a future with this key exists.
    ///
    /// Two of one name at a time are an error: which of them is the second
    /// depends on the order of polls, and that is not the same in a replay.
    pub(crate) fn begin(&mut self, key: &Key, at: &'static Location<'static>) -> Result<(), Error> {
        let Some(usage) = self.uses.get_mut(key.without_ordinal()) else {
            return Ok(());
        };
        if let Some(first) = usage.in_progress {
            return Err(Error::DuplicateKey {
                key: Key::new(key.without_ordinal()),
                first,
                second: at,
            });
        }
        usage.in_progress = Some(at);
        Ok(())
    }

    /// Notes that it is gone.
    pub(crate) fn end(&mut self, key: &Key) {
        if let Some(usage) = self.uses.get_mut(key.without_ordinal()) {
            usage.in_progress = None;
        }
    }
}

/// Bytes that ordinals, generations and marks may add to a name.
const ROOM: usize = 32;
