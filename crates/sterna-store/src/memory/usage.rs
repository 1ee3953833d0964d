//! Limits on the contents of a store in memory.

use crate::{Error, ErrorKind};

/// The limits of a [`MemoryStore`](crate::MemoryStore).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MemoryLimits {
    /// Tasks, ended ones included until they are swept.
    ///
    /// Ten thousand: more than one process should be trusted with.
    pub tasks: usize,
    /// Bytes of everything together, roughly.
    ///
    /// A quarter of a gigabyte: what a small container can spare.
    pub bytes: usize,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        Self {
            tasks: 10_000,
            bytes: 256 << 20,
        }
    }
}

/// The bytes in use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Usage {
    limit: usize,
    used: usize,
}

impl Usage {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, used: 0 }
    }

    pub(super) fn has(&self, bytes: usize) -> bool {
        self.limit.saturating_sub(self.used) >= bytes
    }

    pub(super) fn take(&mut self, bytes: usize) -> Result<(), Error> {
        if !self.has(bytes) {
            return Err(full("bytes", self.limit));
        }
        self.used += bytes;
        Ok(())
    }

    pub(super) fn give_back(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }
}

pub(super) fn full(what: &str, limit: usize) -> Error {
    Error::new(
        ErrorKind::Full,
        format!("the memory store holds its {limit} {what}, sweep it or raise the limit"),
    )
}

/// Cost of a row beyond its values: map nodes, counters, times.
pub(super) const OVERHEAD: usize = 256;
