//! Why a session must be renewed.

use std::mem::discriminant;
use std::sync::Arc;

use crate::clock::UnixSeconds;
use crate::oauth::discovery::Demand;
use crate::oauth::token::Session;

/// Why the session that was used will not do.
#[derive(Clone, Debug)]
pub(in crate::oauth) enum Need {
    /// It is about to expire.
    Due(Arc<Session>),
    /// The server does not accept it, although it was just refreshed: only a
    /// new grant can help.
    Refused(Arc<Session>, Demand),
    /// It lacks scopes.
    Scope(Arc<Session>, Demand),
    /// The server does not accept it, or there was none.
    Unauthorized(Option<Arc<Session>>, Demand),
}

impl Need {
    /// Whether `session`, which somebody else has obtained, will do.
    pub(super) fn is_met_by(&self, session: &Arc<Session>, now: UnixSeconds) -> bool {
        let used = self.used().is_some_and(|used| Arc::ptr_eq(used, session));
        let narrow = match self {
            Self::Scope(_, demand) => {
                let scope = demand.scope.as_ref();
                scope.is_some_and(|scope| !session.requested.covers(scope))
            }
            Self::Due(_) | Self::Refused(..) | Self::Unauthorized(..) => false,
        };
        !used && !narrow && !session.is_expired(now)
    }

    /// Whether one flow answers both: the same trouble with the same session.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same_session = match (self.used(), other.used()) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        let same_trouble = discriminant(self) == discriminant(other);
        same_session && same_trouble && self.demand() == other.demand()
    }

    fn used(&self) -> Option<&Arc<Session>> {
        match self {
            Self::Due(session) | Self::Refused(session, _) | Self::Scope(session, _) => {
                Some(session)
            }
            Self::Unauthorized(session, _) => session.as_ref(),
        }
    }

    fn demand(&self) -> Option<&Demand> {
        match self {
            Self::Due(_) => None,
            Self::Refused(_, demand) | Self::Scope(_, demand) | Self::Unauthorized(_, demand) => {
                Some(demand)
            }
        }
    }
}
