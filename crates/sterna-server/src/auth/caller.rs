//! Who is calling, and what they were granted.

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use serde_json::{Map, Value};

use super::Scopes;

/// The one who sent a request: a principal, what it was granted, and until when.
///
/// Cheap to clone. Its `Debug` names neither the subject nor a claim.
#[derive(Clone)]
pub struct Caller(Option<Arc<Facts>>);

#[derive(Clone)]
struct Facts {
    principal: Principal,
    scopes: Scopes,
    claims: Map<String, Value>,
    valid_until: Option<SystemTime>,
}

impl Caller {
    /// Nobody in particular, with no scopes.
    #[must_use]
    pub const fn anonymous() -> Self {
        Self(None)
    }

    /// The principal, which is what state and tasks are bound to.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.facts().principal
    }

    /// The scopes the caller's credential grants.
    #[must_use]
    pub fn scopes(&self) -> &Scopes {
        &self.facts().scopes
    }

    /// Every claim of the caller's token, for what we do not interpret
    /// (a tenant, roles). Empty without a token.
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

    fn facts(&self) -> &Facts {
        self.0.as_deref().unwrap_or(&NOBODY)
    }

    fn with(mut self, change: impl FnOnce(&mut Facts)) -> Self {
        let facts = self.0.get_or_insert_with(|| Arc::new(NOBODY.clone()));
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
static NOBODY: LazyLock<Facts> = LazyLock::new(|| Facts {
    principal: Principal::anonymous(),
    scopes: Scopes::none(),
    claims: Map::new(),
    valid_until: None,
});

/// Whom a credential names: an issuer's subject acting through a client, or nobody.
///
/// Nobody is a state of its own: no name, not even an empty one, equals it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Principal(Option<Name>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Name {
    issuer: Box<str>,
    subject: Box<str>,
    client: Option<Box<str>>,
}

impl Principal {
    /// Nobody in particular.
    #[must_use]
    pub const fn anonymous() -> Self {
        Self(None)
    }

    /// `subject`, as `issuer` knows it.
    #[must_use]
    pub fn named(issuer: &str, subject: &str) -> Self {
        Self(Some(Name {
            issuer: issuer.into(),
            subject: subject.into(),
            client: None,
        }))
    }

    /// The same principal acting through `client`; nobody stays nobody.
    #[must_use]
    pub fn through(mut self, client: &str) -> Self {
        if let Some(name) = &mut self.0 {
            name.client = Some(client.into());
        }
        self
    }

    /// Whether this is nobody in particular.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.0.is_none()
    }

    /// Who vouches for the subject.
    #[must_use]
    pub fn issuer(&self) -> Option<&str> {
        self.0.as_ref().map(|name| &*name.issuer)
    }

    /// The user, or the service that acts for itself.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.0.as_ref().map(|name| &*name.subject)
    }

    /// The OAuth client through which the subject acts, if the token says so.
    #[must_use]
    pub fn client(&self) -> Option<&str> {
        self.0.as_ref()?.client.as_deref()
    }

    /// One spelling per principal, to bind a seal or a row to.
    ///
    /// Fields carry their lengths, so no two principals share a spelling.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Some(name) = &self.0 else {
            return vec![0];
        };
        let mut bytes = vec![1];
        let fields = [
            Some(&name.issuer),
            Some(&name.subject),
            name.client.as_ref(),
        ];
        for field in fields.into_iter().flatten() {
            bytes.extend_from_slice(&(field.len() as u64).to_be_bytes());
            bytes.extend_from_slice(field.as_bytes());
        }
        bytes
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("Principal(anonymous)"),
            Some(name) => write!(f, "Principal(named by {:?})", name.issuer),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_principals_are_equal_or_share_a_spelling() {
        let all = [
            Principal::anonymous(),
            Principal::named("", ""),
            Principal::named("a", "bc"),
            Principal::named("ab", "c"),
            Principal::named("a", "bc").through(""),
            Principal::named("a", "bc").through("d"),
            Principal::named("a", "bcd"),
        ];
        let spellings: BTreeSet<_> = all.iter().map(Principal::to_bytes).collect();
        assert_eq!(spellings.len(), all.len());
        for (i, one) in all.iter().enumerate() {
            for (j, other) in all.iter().enumerate() {
                assert_eq!(one == other, i == j, "{i} {j}");
            }
        }
    }

    #[test]
    fn nobody_does_not_become_somebody_through_a_client() {
        let nobody = Principal::anonymous().through("app");
        assert!(nobody.is_anonymous());
        assert_eq!(nobody, Principal::anonymous());
    }

    #[test]
    fn debug_tells_neither_subject_nor_claims() {
        let caller = Caller::from(Principal::named("https://as.example", "ada@example.com"))
            .with_claims(Map::from_iter([("email".to_owned(), "ada@x".into())]));
        let text = format!("{caller:?}");
        assert!(text.contains("as.example"), "{text}");
        assert!(!text.contains("ada"), "{text}");
    }
}
