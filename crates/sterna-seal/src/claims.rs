//! Claims of an authentic token.

use sterna_types::UnixMillis;

use crate::flow::Flow;
use crate::key::KeyId;
use crate::spill::{LoadError, Payload, Spill, Spilled};

/// Claims of a token, after every check has passed.
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

/// Payload of a token, or the place where it is.
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
