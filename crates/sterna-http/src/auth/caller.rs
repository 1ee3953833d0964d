//! The caller of a request, with its scopes and claims.

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use serde_json::{Map, Value};
use sterna_types::Principal;

use super::Scopes;

/// The sender of a request: a principal, its scopes, and the end of its token.
///
/// Cheap to clone. Its `Debug` names neither the subject nor a claim.
#[derive(Clone)]
pub struct Caller(Option<Arc<CallerInner>>);

#[derive(Clone)]
struct CallerInner {
    principal: Principal,
    scopes: Scopes,
    claims: Map<String, Value>,
    valid_until: Option<SystemTime>,
}

impl Caller {
    /// The anonymous caller, with no scopes.
    #[must_use]
    pub const fn anonymous() -> Self {
        Self(None)
    }

    /// The principal that state and tasks are bound to.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.facts().principal
    }

    /// The scopes the caller's credential grants.
    #[must_use]
    pub fn scopes(&self) -> &Scopes {
        &self.facts().scopes
    }

    /// Every claim of the caller's token, such as a tenant or roles, which the
    /// server does not interpret. Empty without a token.
    #[must_use]
    pub fn claims(&self) -> &Map<String, Value> {
        &self.facts().claims
    }

    /// When the credential stops being good, if it says so.
    #[must_use]
    pub fn valid_until(&self) -> Option<SystemTime> {
        self.facts().valid_until
    }

    /// The same caller with these scopes.
    #[must_use]
    pub fn with_scopes(self, scopes: Scopes) -> Self {
        self.with(|facts| facts.scopes = scopes)
    }

    /// The same caller with these claims.
    #[must_use]
    pub fn with_claims(self, claims: Map<String, Value>) -> Self {
        self.with(|facts| facts.claims = claims)
    }

    /// The same caller, believed until `end`.
    #[must_use]
    pub fn with_end(self, end: SystemTime) -> Self {
        self.with(|facts| facts.valid_until = Some(end))
    }

    fn facts(&self) -> &CallerInner {
        self.0.as_deref().unwrap_or(&ANONYMOUS)
    }

    fn with(mut self, change: impl FnOnce(&mut CallerInner)) -> Self {
        let facts = self.0.get_or_insert_with(|| Arc::new(ANONYMOUS.clone()));
        change(Arc::make_mut(facts));
        self
    }
}

impl From<Principal> for Caller {
    fn from(principal: Principal) -> Self {
        Self::anonymous().with(|facts| facts.principal = principal)
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("principal", self.principal())
            .field("scopes", self.scopes())
            .finish_non_exhaustive()
    }
}

// The anonymous caller costs no allocation: it is nearly every request of a local server.
static ANONYMOUS: LazyLock<CallerInner> = LazyLock::new(|| CallerInner {
    principal: Principal::anonymous(),
    scopes: Scopes::none(),
    claims: Map::new(),
    valid_until: None,
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_tells_neither_subject_nor_claims() {
        let caller = Caller::from(Principal::named("https://as.example", "ada@example.com"))
            .with_claims(Map::from_iter([("email".to_owned(), "ada@x".into())]));
        let text = format!("{caller:?}");
        assert!(text.contains("as.example"), "{text}");
        assert!(!text.contains("ada"), "{text}");
    }
}
