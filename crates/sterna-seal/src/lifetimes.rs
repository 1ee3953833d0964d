//! Lifetimes of tokens and flows.

use std::time::Duration;

use sterna_types::UnixMillis;

/// Time that a client may take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Lifetimes {
    /// For one round. An hour: long enough to ask a colleague, short enough
    /// that a token found in yesterday's log is worthless.
    pub round: Duration,
    /// For the whole flow. A day: a client cannot keep a flow alive for ever
    /// by going round and round.
    pub flow: Duration,
}

impl Lifetimes {
    /// `round` for each round and `flow` for all of them together.
    pub const fn new(round: Duration, flow: Duration) -> Self {
        Self { round, flow }
    }

    pub(crate) fn round_end(&self, now: UnixMillis) -> UnixMillis {
        now + self.round
    }

    pub(crate) fn flow_end(&self, started_at: UnixMillis) -> UnixMillis {
        started_at + self.flow
    }
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self::new(
            Duration::from_secs(60 * 60),
            Duration::from_secs(24 * 60 * 60),
        )
    }
}
