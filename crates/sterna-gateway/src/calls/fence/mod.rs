//! Which replica decides about a held call: the rules, without time and without a
//! store.
//!
//! The *holder* has the connection of the call. A *replica* has answers for it, from
//! a retry that another balancer's choice brought there. The ledger grants one claim
//! for each held call, and the claim is the fence:
//!
//! - The holder claims before it gives the answers to the server. Without the claim it
//!   may not answer any more, and drops the call.
//! - A replica that hears nothing of the holder claims too. With the claim it knows
//!   that the server has no answer and will get none. Without it, the holder has the
//!   answers, and only the holder can tell what came of them.

#[cfg(test)]
mod model;

use sterna_store::OnceClaim;

/// State of a replica that has answers for a call which another one holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Asking {
    /// The answers are posted, and the holder has not been heard.
    Posted,
    /// The holder was silent: the replica claims the call.
    Claiming,
    /// The holder has the call.
    Following,
}

/// Event that such a replica sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Seen {
    /// The holder is at work on the answers.
    Alive,
    /// The claim is decided: `true` if the replica has it.
    Claimed(bool),
    /// The outcome of the call is posted.
    Outcome,
    /// The holder was not heard for a time.
    Silence,
}

/// Next step of such a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Next {
    /// Goes on in this state.
    Be(Asking),
    /// Passes the outcome on.
    Deliver,
    /// Refuses the answers: the server has none of them and will get none.
    RefuseUnanswered,
    /// Refuses the answers: the server may have them.
    RefuseUnknown,
}

impl Asking {
    pub(super) fn after(self, seen: Seen) -> Next {
        match (self, seen) {
            (_, Seen::Outcome) => Next::Deliver,
            (Self::Posted, Seen::Silence) => Next::Be(Self::Claiming),
            (Self::Posted | Self::Following, Seen::Alive) => Next::Be(Self::Following),
            (Self::Following, Seen::Silence) => Next::RefuseUnknown,
            (Self::Claiming, Seen::Claimed(true)) => Next::RefuseUnanswered,
            (Self::Claiming, Seen::Claimed(false)) => Next::Be(Self::Following),
            // A claim that is under way is decided first, and nothing else is claimed.
            (Self::Claiming, Seen::Alive | Seen::Silence)
            | (Self::Posted | Self::Following, Seen::Claimed(_)) => Next::Be(self),
        }
    }
}

/// Returns `true` if a claimant alone decides about the call.
pub(super) fn is_granted(claim: &OnceClaim) -> bool {
    matches!(claim, OnceClaim::Won)
}
