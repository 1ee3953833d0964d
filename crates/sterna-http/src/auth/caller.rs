//! The caller of a request, with its scopes and claims.

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use serde_json::{Map, Value};
use sterna_types::Principal;

use zeroize::Zeroizing;

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
    token: Option<CallerToken>,
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

    /// The bearer token that the caller showed, if the server keeps tokens
    /// ([`Gate::keeping_tokens`](super::Gate::keeping_tokens)).
    #[must_use]
    pub fn token(&self) -> Option<&CallerToken> {
        self.facts().token.as_ref()
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

    /// The same caller with the token that it showed.
    #[must_use]
    pub fn with_token(self, token: CallerToken) -> Self {
        self.with(|facts| facts.token = Some(token))
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

/// Bearer token of a caller: mute in `Debug`, wiped when its last copy is
/// dropped.
#[derive(Clone)]
pub struct CallerToken(Arc<Zeroizing<String>>);

impl CallerToken {
    /// The text itself; keep it out of logs, and of every request but that to a
    /// token endpoint.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for CallerToken {
    fn from(token: &str) -> Self {
        Self(Arc::new(Zeroizing::new(token.to_owned())))
    }
}

impl fmt::Debug for CallerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallerToken(…)")
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
    token: None,
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_tells_neither_subject_nor_claims() {
        let caller = Caller::from(Principal::named("https://as.example", "ada@example.com"))
            .with_claims(Map::from_iter([("email".to_owned(), "ada@x".into())]))
            .with_token(CallerToken::from("token of ada"));
        assert_eq!(format!("{:?}", caller.token()), "Some(CallerToken(…))");
        let text = format!("{caller:?}");
        assert!(text.contains("as.example"), "{text}");
        assert!(!text.contains("ada"), "{text}");
    }
}
