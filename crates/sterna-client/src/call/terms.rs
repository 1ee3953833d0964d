//! On what terms a call is made.

use std::time::Duration;

use super::CancelHandle;
use super::budget::Budget;
use super::hearing::Listeners;
use crate::config::Config;
use crate::error::{Error, Fault};

/// What the caller wants to hear and how much the call may cost; both for the
/// rounds from here on.
#[derive(Debug)]
pub(super) struct Terms {
    pub(super) listeners: Listeners,
    pub(super) limits: Limits,
    pub(super) handle: CancelHandle,
}

impl Terms {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            listeners: Listeners::default(),
            limits: Limits {
                timeout: config.timeout,
                deadline: config.deadline,
                rounds: config.max_rounds,
            },
            handle: CancelHandle::new(),
        }
    }
}

/// What a call may cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) timeout: Duration,
    pub(super) deadline: Duration,
    pub(super) rounds: u32,
}

impl Limits {
    pub(super) fn budget(&self) -> Budget {
        Budget::new(self.deadline, self.timeout)
    }

    /// Whether a call that was sent again `rounds` times may be once more.
    pub(super) fn admit(&self, rounds: u32) -> Result<(), Error> {
        let limit = self.rounds;
        match rounds < limit {
            true => Ok(()),
            false => Err(Fault::Rounds { limit }.into()),
        }
    }
}
