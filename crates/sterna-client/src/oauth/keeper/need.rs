//! Why a session must be renewed.

use std::sync::Arc;

use crate::clock::UnixSeconds;
use crate::oauth::discovery::Demand;
use crate::oauth::token::Session;

/// What is wrong with the session that was used, if any was.
#[derive(Clone, Debug)]
pub(in crate::oauth) struct Need {
    pub(in crate::oauth) used: Option<Arc<Session>>,
    pub(in crate::oauth) why: Why,
}

/// Why the session that was used will not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::oauth) enum Why {
    /// It is about to expire.
    Due,
    /// The server does not accept it, although it was just refreshed: only a
    /// new grant can help.
    Refused(Demand),
    /// It lacks scopes.
    Scope(Demand),
    /// The server does not accept it, or there was none.
    Unauthorized(Demand),
}

impl Need {
    pub(in crate::oauth) fn due(session: &Arc<Session>) -> Self {
        Self {
            used: Some(session.clone()),
            why: Why::Due,
        }
    }

    /// Whether `session`, which somebody else has obtained, will do.
    pub(in crate::oauth) fn is_met_by(&self, session: &Arc<Session>, now: UnixSeconds) -> bool {
        let other = !self
            .used
            .as_ref()
            .is_some_and(|used| Arc::ptr_eq(used, session));
        let wide = match &self.why {
            Why::Scope(demand) => {
                let scope = demand.scope.as_ref();
                scope.is_none_or(|scope| session.requested.covers(scope))
            }
            Why::Due | Why::Refused(_) | Why::Unauthorized(_) => true,
        };
        other && wide && !session.is_expired(now)
    }
}

impl PartialEq for Need {
    fn eq(&self, other: &Self) -> bool {
        let same_session = match (&self.used, &other.used) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        same_session && self.why == other.why
    }
}
