//! What an authentic token says.

use std::fmt;
use std::ops::Deref;

use crate::blob::Spill;
use crate::flow::Flow;
use crate::key::KeyId;
use crate::spill::{LoadError, Spilled};
use crate::time::UnixMillis;

/// What a token says, after every check has passed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Claims {
    /// The flow it belongs to, as of the round it was sealed in.
    pub flow: Flow,
    /// When it was sealed.
    pub issued_at: UnixMillis,
    /// When it would have been refused.
    pub expires_at: UnixMillis,
    /// The key it was sealed with.
    pub key_id: KeyId,
    /// The state it carries.
    pub content: Content,
}

/// Where the payload of a token is.
#[derive(Debug)]
#[non_exhaustive]
pub enum Content {
    /// In the token.
    Inline(Payload),
    /// In a blob store, encrypted; the token holds the key.
    Spilled(Spilled),
}

impl Content {
    /// The payload, if the token carries it itself.
    pub fn inline(&self) -> Option<&[u8]> {
        match self {
            Self::Inline(payload) => Some(payload),
            Self::Spilled(_) => None,
        }
    }

    /// The payload, fetched from `spill` if it is there.
    ///
    /// # Errors
    ///
    /// [`LoadError`] says whether the client must start over or the operator
    /// must act.
    ///
    /// # Cancel safety
    ///
    /// Reads only; dropping the future loses nothing.
    pub async fn load(self, spill: Option<&dyn Spill>) -> Result<Payload, LoadError> {
        match self {
            Self::Inline(payload) => Ok(payload),
            Self::Spilled(spilled) => spilled.fetch(spill.ok_or(LoadError::NoStore)?).await,
        }
    }
}

/// The bytes that were sealed, still in the buffer they were decrypted in.
#[derive(Clone, Eq, PartialEq)]
pub struct Payload {
    buffer: Vec<u8>,
    start: usize,
}

impl Payload {
    /// What stands in `buffer` from `start` on.
    pub(crate) fn new(buffer: Vec<u8>, start: usize) -> Self {
        debug_assert!(start <= buffer.len(), "a payload begins inside its buffer");
        Self { buffer, start }
    }
}

impl Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes)", self.len())
    }
}
