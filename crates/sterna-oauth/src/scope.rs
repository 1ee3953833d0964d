//! Sets of scopes (RFC 6749 section 3.3).

use std::collections::BTreeSet;
use std::fmt;

/// A set of scopes; the order in which a server names them means nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scopes(BTreeSet<String>);

impl Scopes {
    /// Reads a space-separated list, leaving out what cannot be a scope.
    pub(crate) fn parse(text: &str) -> Self {
        text.split(' ').collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, scope: &str) -> bool {
        self.0.contains(scope)
    }

    pub(crate) fn covers(&self, other: &Self) -> bool {
        other.0.is_subset(&self.0)
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        self.0.union(&other.0).cloned().collect()
    }

    pub(crate) fn without(&self, scope: &str) -> Self {
        self.iter().filter(|own| *own != scope).collect()
    }

    pub(crate) fn with(mut self, scope: &str) -> Self {
        self.0.insert(scope.to_owned());
        self
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The value of a `scope` parameter, or nothing if there is nothing to ask for.
    pub(crate) fn to_parameter(&self) -> Option<String> {
        (!self.is_empty()).then(|| self.to_string())
    }
}

impl<S: Into<String>> FromIterator<S> for Scopes {
    fn from_iter<I: IntoIterator<Item = S>>(scopes: I) -> Self {
        let valid = scopes.into_iter().map(Into::into).filter(|s| is_scope(s));
        Self(valid.take(MAX_SCOPES).collect())
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, scope) in self.iter().enumerate() {
            let gap = if index == 0 { "" } else { " " };
            write!(f, "{gap}{scope}")?;
        }
        Ok(())
    }
}

fn is_scope(text: &str) -> bool {
    let allowed = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    !text.is_empty() && text.len() <= MAX_SCOPE_BYTES && text.bytes().all(allowed)
}

/// Bounds what a server can make us carry and put into a URL.
const MAX_SCOPES: usize = 128;
const MAX_SCOPE_BYTES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_what_can_be_a_scope_and_drops_the_rest() {
        let scopes = Scopes::parse("b  a b quo\"te back\\slash tab\tbed é c:/?#");
        assert_eq!(scopes.to_string(), "a b c:/?#");
        assert_eq!(Scopes::parse("  ").to_parameter(), None);
    }

    #[test]
    fn a_flood_of_scopes_is_cut() {
        let flood = (0..100_000).map(|n| n.to_string()).collect::<Scopes>();
        assert_eq!(flood.iter().count(), MAX_SCOPES);
    }
}
