//! Questions of a task and their answers.

use bytes::Bytes;

use crate::{Name, Status};

/// A question to the client of a task.
///
/// A key names one question for the life of the task: asked again with the same
/// fingerprint it is the same question and its first wording stands, with
/// another fingerprint it is refused.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Question {
    /// Its name within the task.
    pub key: Name,
    /// Fingerprint of the question.
    pub fingerprint: [u8; 16],
    /// The request as the client gets it.
    pub request: Bytes,
}

impl Question {
    /// A question.
    pub fn new(key: Name, fingerprint: [u8; 16], request: Bytes) -> Self {
        Self {
            key,
            fingerprint,
            request,
        }
    }
}

/// A question that was asked at some time in the life of a task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Asked {
    /// Its name within the task.
    pub key: Name,
    /// Fingerprint of the question.
    pub fingerprint: [u8; 16],
    /// Phase of the question.
    pub phase: Phase,
}

impl Asked {
    /// A question in `phase`.
    pub fn new(key: Name, fingerprint: [u8; 16], phase: Phase) -> Self {
        Self {
            key,
            fingerprint,
            phase,
        }
    }
}

/// The phase of a question, from open to taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a store maps every phase to a value of a column"
)]
pub enum Phase {
    /// It waits for an answer.
    Open,
    /// It has an answer that no worker has dealt with.
    Answered,
    /// Its answer has been dealt with.
    Taken,
    /// It is no longer asked. It may be asked again.
    Withdrawn,
}

impl Phase {
    const ALL: [Self; 4] = [Self::Open, Self::Answered, Self::Taken, Self::Withdrawn];

    /// A word for it, for a column of a database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Taken => "taken",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// The phase that is written as `word`.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == word)
    }
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Answer {
    /// The key of the question.
    pub key: Name,
    /// The response as the client sent it.
    pub response: Bytes,
}

impl Answer {
    /// An answer.
    pub fn new(key: Name, response: Bytes) -> Self {
        Self { key, response }
    }
}

/// The effect of a set of answers on the questions of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answered {
    /// Number of answers that counted.
    pub accepted: u32,
    /// The status with them.
    pub status: Status,
}

impl Answered {
    /// `accepted` answers left the task in `status`.
    pub fn new(accepted: u32, status: Status) -> Self {
        Self { accepted, status }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_survives_a_column() {
        for phase in Phase::ALL {
            assert_eq!(Phase::parse(phase.as_str()), Some(phase));
        }
        assert_eq!(Phase::parse("lost"), None);
    }
}
