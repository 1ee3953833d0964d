//! Hashes of several parts that cannot be mistaken for one another.

use ring::digest::{Context, SHA256};

pub(crate) const DIGEST_LEN: usize = 32;

/// SHA-256 over parts of known boundaries, for one purpose.
pub(crate) struct Digest {
    context: Context,
}

impl Digest {
    /// `domain` keeps digests for different purposes apart; no domain may be
    /// the beginning of another.
    pub(crate) fn new(domain: &'static str) -> Self {
        let mut context = Context::new(&SHA256);
        context.update(domain.as_bytes());
        Self { context }
    }

    /// Adds a part of any length, with its length before it.
    pub(crate) fn part(mut self, bytes: &[u8]) -> Self {
        self.context.update(&(bytes.len() as u64).to_be_bytes());
        self.context.update(bytes);
        self
    }

    /// Adds a part that may be missing, which differs from an empty one.
    pub(crate) fn optional(mut self, bytes: Option<&[u8]>) -> Self {
        self.context.update(&[u8::from(bytes.is_some())]);
        match bytes {
            Some(bytes) => self.part(bytes),
            None => self,
        }
    }

    pub(crate) fn finish(self) -> [u8; DIGEST_LEN] {
        let mut digest = [0; DIGEST_LEN];
        digest.copy_from_slice(self.context.finish().as_ref());
        digest
    }
}
