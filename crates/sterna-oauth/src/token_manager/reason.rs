//! Reasons to renew a session.

use std::mem::discriminant;
use std::sync::Arc;

use crate::clock::UnixSeconds;
use crate::discovery::Challenges;
use crate::token::Session;

/// Reason why the session in use must be replaced.
#[derive(Clone, Debug)]
pub(crate) enum RenewalReason {
    /// It is about to expire.
    Due(Arc<Session>),
    /// The server does not accept it, although it was just refreshed: only a
    /// new grant can help.
    Refused(Arc<Session>, Challenges),
    /// It lacks scopes.
    Scope(Arc<Session>, Challenges),
    /// The server does not accept it, or there was none.
    Unauthorized(Option<Arc<Session>>, Challenges),
}

impl RenewalReason {
    /// Returns true if `session`, which another caller obtained, removes the reason.
    pub(super) fn is_met_by(&self, session: &Arc<Session>, now: UnixSeconds) -> bool {
        let used = self.used().is_some_and(|used| Arc::ptr_eq(used, session));
        let narrow = match self {
            Self::Scope(_, challenges) => {
                let scope = challenges.scope.as_ref();
                scope.is_some_and(|scope| !session.requested.covers(scope))
            }
            Self::Due(_) | Self::Refused(..) | Self::Unauthorized(..) => false,
        };
        !used && !narrow && !session.is_expired(now)
    }

    /// Returns true if one renewal serves both: same reason, same session.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same_session = match (self.used(), other.used()) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        let same_trouble = discriminant(self) == discriminant(other);
        same_session && same_trouble && self.challenges() == other.challenges()
    }

    fn used(&self) -> Option<&Arc<Session>> {
        match self {
            Self::Due(session) | Self::Refused(session, _) | Self::Scope(session, _) => {
                Some(session)
            }
            Self::Unauthorized(session, _) => session.as_ref(),
        }
    }

    fn challenges(&self) -> Option<&Challenges> {
        match self {
            Self::Due(_) => None,
            Self::Refused(_, challenges)
            | Self::Scope(_, challenges)
            | Self::Unauthorized(_, challenges) => Some(challenges),
        }
    }
}
