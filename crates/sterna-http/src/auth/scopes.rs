//! Scopes that a token grants, and scopes that a call needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// A set of OAuth scopes.
///
/// A scope is one or more printable ASCII characters except `"` and `\`
/// (RFC 6749, appendix A.4), so a set can always be written into a header.
/// Words that are no scope are left out when a set is read, and so is
/// `offline_access`: it asks for a refresh token and is no matter of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes(BTreeSet<String>);

impl Scopes {
    /// The empty set: grants nothing, asks for nothing.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads scopes separated by spaces, as in a token's `scope` claim.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        text.split(' ').collect()
    }

    /// Returns whether `scope` is in the set.
    #[must_use]
    pub fn contains(&self, scope: &str) -> bool {
        self.0.contains(scope)
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The scopes in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    fn covers(&self, needed: &Self) -> bool {
        needed.0.is_subset(&self.0)
    }
}

impl<S: AsRef<str>> FromIterator<S> for Scopes {
    fn from_iter<I: IntoIterator<Item = S>>(words: I) -> Self {
        let words = words.into_iter();
        Self(
            words
                .filter(|word| is_scope(word.as_ref()))
                .map(|word| word.as_ref().to_owned())
                .collect(),
        )
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, scope) in self.iter().enumerate() {
            if position > 0 {
                f.write_str(" ")?;
            }
            f.write_str(scope)?;
        }
        Ok(())
    }
}

/// Which scopes a call needs, and which scopes stand for others.
///
/// # Examples
///
/// ```
/// use sterna_http::auth::{ScopePolicy, Scopes};
///
/// let policy = ScopePolicy::everywhere(Scopes::parse("mcp"))
///     .for_calls(|method, name| match (method, name) {
///         ("tools/call", Some("deploy")) => Scopes::parse("deploy:write"),
///         _ => Scopes::none(),
///     })
///     .implying("admin", Scopes::parse("mcp deploy:write"));
///
/// let needed = policy.needed("tools/call", Some("deploy"));
/// assert_eq!(needed.to_string(), "deploy:write mcp");
/// assert!(policy.satisfied(&Scopes::parse("admin"), &needed));
/// assert!(!policy.satisfied(&Scopes::parse("mcp"), &needed));
/// ```
#[derive(Clone, Default)]
pub struct ScopePolicy {
    everywhere: Scopes,
    of_call: Option<Arc<OfCall>>,
    implied: BTreeMap<String, Scopes>,
    hides: bool,
}

type OfCall = dyn Fn(&str, Option<&str>) -> Scopes + Send + Sync;

impl ScopePolicy {
    /// Every request needs these scopes.
    #[must_use]
    pub fn everywhere(scopes: Scopes) -> Self {
        Self {
            everywhere: scopes,
            ..Self::default()
        }
    }

    /// A request for `method` on `name` needs the scopes that `needed` returns, in
    /// addition to those that every request needs.
    #[must_use]
    pub fn for_calls(
        mut self,
        needed: impl Fn(&str, Option<&str>) -> Scopes + Send + Sync + 'static,
    ) -> Self {
        self.of_call = Some(Arc::new(needed));
        self
    }

    /// A token with `broad` counts as having `narrow` too, and the scopes that
    /// `narrow` implies in turn (AUTH-S11).
    #[must_use]
    pub fn implying(mut self, broad: &str, narrow: Scopes) -> Self {
        self.implied
            .entry(broad.to_owned())
            .or_default()
            .0
            .extend(narrow.0);
        self
    }

    /// Leaves entries out of a caller's lists if its scopes do not suffice.
    ///
    /// Off by default: every caller sees whole lists, and a call that needs more
    /// scopes is refused with a challenge that names them. A client cannot step
    /// up for a tool that it has never seen, so hide only entries that a caller
    /// must not know of.
    #[must_use]
    pub fn hiding(mut self) -> Self {
        self.hides = true;
        self
    }

    pub(super) fn hides(&self) -> bool {
        self.hides
    }

    /// Everything one request needs, so that a challenge can name it at once
    /// (AUTH-S9).
    #[must_use]
    pub fn needed(&self, method: &str, name: Option<&str>) -> Scopes {
        let mut needed = self.everywhere.clone();
        if let Some(of_call) = &self.of_call {
            needed.0.extend(of_call(method, name).0);
        }
        needed
    }

    /// The scopes that every request needs.
    #[must_use]
    pub fn needed_everywhere(&self) -> &Scopes {
        &self.everywhere
    }

    /// Returns whether a token that grants `granted` is enough for `needed`.
    #[must_use]
    pub fn satisfied(&self, granted: &Scopes, needed: &Scopes) -> bool {
        granted.covers(needed) || (!self.implied.is_empty() && self.expand(granted).covers(needed))
    }

    fn expand(&self, granted: &Scopes) -> Scopes {
        let mut all = Scopes::none();
        let mut open: Vec<&str> = granted.iter().collect();
        while let Some(scope) = open.pop() {
            if all.0.insert(scope.to_owned())
                && let Some(narrow) = self.implied.get(scope)
            {
                open.extend(narrow.iter());
            }
        }
        all
    }
}

impl fmt::Debug for ScopePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopePolicy")
            .field("everywhere", &self.everywhere)
            .field("implied", &self.implied)
            .finish_non_exhaustive()
    }
}

fn is_scope(word: &str) -> bool {
    // AUTH-S6: neither a challenge nor the metadata may name it.
    word != "offline_access"
        && !word.is_empty()
        && word
            .bytes()
            .all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_no_scope_are_left_out() {
        let scopes = Scopes::parse("a  b\"c d\\e \u{e9} f:g offline_access a");
        assert_eq!(scopes.to_string(), "a f:g");
    }

    #[test]
    fn a_broad_scope_counts_as_what_it_implies_also_in_a_circle() {
        let policy = ScopePolicy::default()
            .implying("root", Scopes::parse("write"))
            .implying("write", Scopes::parse("read root"));
        let granted = |text| policy.satisfied(&Scopes::parse(text), &Scopes::parse("read write"));
        assert!(granted("root"));
        assert!(granted("write"));
        assert!(!granted("read"));
        assert!(!granted(""));
    }
}
