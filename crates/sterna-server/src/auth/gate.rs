//! Who may come in at all.

use std::fmt;
use std::sync::Arc;

use super::{Authenticator, ScopePolicy};

/// Whom the server answers.
///
/// There is no default: a server that anybody may call says so.
#[derive(Clone)]
pub struct Gate {
    authenticator: Option<Arc<dyn Authenticator>>,
    scopes: ScopePolicy,
}

impl Gate {
    /// Answers everybody; every caller is anonymous.
    #[must_use]
    pub fn open() -> Self {
        Self {
            authenticator: None,
            scopes: ScopePolicy::default(),
        }
    }

    /// Answers those whom `authenticator` lets in.
    pub fn guarded(authenticator: impl Authenticator) -> Self {
        Self {
            authenticator: Some(Arc::new(authenticator)),
            scopes: ScopePolicy::default(),
        }
    }

    /// Asks for scopes too. An open gate asks for none.
    #[must_use]
    pub fn with_scopes(mut self, scopes: ScopePolicy) -> Self {
        self.scopes = scopes;
        self
    }

    pub(crate) fn authenticator(&self) -> Option<&dyn Authenticator> {
        self.authenticator.as_deref()
    }

    /// Whether lists leave out what a caller may not use.
    pub(crate) fn hides(&self) -> bool {
        self.authenticator.is_some() && self.scopes.hides()
    }

    /// Whether a request for `method` on `name` needs more than a caller.
    pub(crate) fn guards(&self, method: &str, name: &str) -> bool {
        self.authenticator.is_some() && !self.scopes.needed(method, Some(name)).is_empty()
    }

    pub(crate) fn scopes(&self) -> &ScopePolicy {
        &self.scopes
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.authenticator {
            Some(_) => "guarded",
            None => "open",
        };
        write!(f, "Gate({kind}, {:?})", self.scopes)
    }
}
