//! Random programs: the specification of the engine.

mod harness;
mod interpret;
mod live;
mod oracle;
mod program;
mod programs;
mod rng;
mod round_trips;
mod world;

use sha2::Digest as _;

pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = sha2::Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// The flow that every program runs as.
const FLOW: [u8; 16] = [7; 16];

/// A driver that breaks one of its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// What ran out before an answer came is recorded after it.
    LateTimers,
    /// A suspension does not wait for the steps that run.
    NoDrain,
    /// Goes on although the last event has not sunk in.
    NoPatience,
    /// New steps begin while old entries have not been told.
    StartEarly,
    /// New steps begin while a blob of an old entry is on its way.
    StartWhileFetching,
    /// New steps begin together with the last old entry.
    StartWithLastTell,
    /// A future that nobody polled takes its entry when it likes.
    TakeMissed,
    /// All entries are told at once.
    TellAll,
    /// A step is told of its end in the very poll in which it ends.
    TellAtOnce,
    /// The youngest entry is told first.
    TellNewestFirst,
    /// A step is told of its end before that is durable.
    TellUnwritten,
}

impl Mutant {
    const ALL: [Self; 11] = [
        Self::LateTimers,
        Self::NoDrain,
        Self::NoPatience,
        Self::StartEarly,
        Self::StartWhileFetching,
        Self::StartWithLastTell,
        Self::TakeMissed,
        Self::TellAll,
        Self::TellAtOnce,
        Self::TellNewestFirst,
        Self::TellUnwritten,
    ];
}
