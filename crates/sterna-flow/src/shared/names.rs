//! How a future gets its name: when it is constructed, never later.

use std::collections::HashMap;
use std::panic::Location;

use super::tape::Tape;
use crate::error::Error;
use crate::journal::Limits;
use crate::key::{Key, write_key, write_ordinal};

/// The names that a run has used.
#[derive(Default)]
pub(crate) struct Names {
    uses: HashMap<Key, Use>,
    text: String,
}

struct Use {
    count: u32,
    in_progress: Option<&'static Location<'static>>,
}

/// A name for one future.
pub(crate) struct Name {
    /// What the journal knows it by.
    pub(crate) key: Key,
    /// What all uses of the name have in common.
    pub(crate) base: Key,
}

impl Names {
    /// The next name for `name` in `scope`. `mark` sets apart things that may
    /// be called alike, such as a step and its compensation.
    pub(crate) fn next(
        &mut self,
        tape: &Tape,
        limits: &Limits,
        scope: Option<&Key>,
        name: &str,
        mark: Option<char>,
    ) -> Result<Name, Error> {
        self.text.clear();
        write_key(&mut self.text, scope, name);
        self.text.extend(mark);
        if name.is_empty() || self.text.len() > limits.key_bytes - ROOM {
            return Err(Error::InvalidKey {
                key: Key::new(&self.text),
                limit: limits.key_bytes - ROOM,
            });
        }
        if let Some((base, usage)) = self.uses.get_key_value(self.text.as_str()) {
            let (base, count) = (base.clone(), usage.count + 1);
            write_ordinal(&mut self.text, count);
            if let Some(usage) = self.uses.get_mut(base.as_str()) {
                usage.count = count;
            }
            let key = tape.key(&self.text);
            return Ok(Name { key, base });
        }
        let key = tape.key(&self.text);
        let usage = Use {
            count: 1,
            in_progress: None,
        };
        self.uses.insert(key.clone(), usage);
        Ok(Name {
            base: key.clone(),
            key,
        })
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
        let Some(usage) = self.uses.get_mut(name.base.as_str()) else {
            return Ok(());
        };
        if let Some(first) = usage.in_progress {
            return Err(Error::DuplicateKey {
                key: name.base.clone(),
                first,
                second: at,
            });
        }
        usage.in_progress = Some(at);
        Ok(())
    }

    /// Notes that it is gone.
    pub(crate) fn end(&mut self, base: &Key) {
        if let Some(usage) = self.uses.get_mut(base.as_str()) {
            usage.in_progress = None;
        }
    }
}

/// What ordinals, generations and marks may add to a name.
const ROOM: usize = 32;
