use std::fmt;

use serde::{Deserialize, Serialize};

/// What a server wants to be reminded of, in words only it understands.
///
/// A client hands it back byte for byte and may not look inside. `Debug` shows
/// its length only, so it stays out of logs.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestState(String);

impl RequestState {
    /// Takes `state` as it is.
    pub fn new(state: impl Into<String>) -> Self {
        Self(state.into())
    }

    /// The text, for the server that wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How many bytes it takes on the wire, before JSON escapes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the text is empty, which is a state like any other.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for RequestState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestState({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_the_length_only() {
        assert_eq!(
            format!("{:?}", RequestState::new("secret")),
            "RequestState(6 bytes)"
        );
    }
}
