//! How long a result stays fresh, and for whom.

use crate::json::OtherName;

/// How a client may keep a result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caching {
    /// How many milliseconds after its arrival the result is fresh.
    pub ttl_ms: u64,
    /// Who may be served the same copy.
    pub scope: CacheScope,
}

impl Caching {
    /// Stale on arrival and nobody else's: what a client assumes of a server
    /// that says nothing.
    pub const NONE: Self = Self::new(0, CacheScope::Private);

    /// Fresh for `ttl_ms` milliseconds.
    pub const fn new(ttl_ms: u64, scope: CacheScope) -> Self {
        Self { ttl_ms, scope }
    }
}

/// Who may be served a copy of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheScope {
    /// Whoever asked with the same authorization.
    Private,
    /// Everybody.
    Public,
    /// A scope this revision does not define; no safer to share than private.
    Other(OtherName),
}

names!(CacheScope {
    Private = "private",
    Public = "public",
});

/// A result that says how it may be kept.
pub trait Cacheable {
    /// The hints of the result; [`Caching::NONE`] where it has none.
    fn caching(&self) -> Caching;

    /// The result with these hints, which 2026-07-28 requires and earlier
    /// revisions do not know.
    #[must_use]
    fn with_caching(self, caching: Caching) -> Self;
}

/// Implements [`Cacheable`] by the fields `ttl_ms` and `cache_scope`.
macro_rules! cacheable {
    ($($type:ident),+) => {
        $(impl $crate::caching::Cacheable for $type {
            fn caching(&self) -> $crate::caching::Caching {
                $crate::caching::read(self.ttl_ms, self.cache_scope.as_ref())
            }

            fn with_caching(mut self, caching: $crate::caching::Caching) -> Self {
                self.ttl_ms = Some(i64::try_from(caching.ttl_ms).unwrap_or(i64::MAX));
                self.cache_scope = Some(caching.scope);
                self
            }
        })+
    };
}

pub(crate) fn read(ttl_ms: Option<i64>, scope: Option<&CacheScope>) -> Caching {
    // A missing or negative lifetime counts as zero.
    let ttl_ms = u64::try_from(ttl_ms.unwrap_or(0)).unwrap_or(0);
    Caching::new(ttl_ms, scope.cloned().unwrap_or(CacheScope::Private))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::ListToolsResult;

    #[test]
    fn missing_and_negative_lifetimes_mean_stale() {
        assert_eq!(ListToolsResult::new(vec![]).caching(), Caching::NONE);
        let json = r#"{"tools":[],"ttlMs":-5,"cacheScope":"public"}"#;
        let result: ListToolsResult = serde_json::from_str(json).unwrap();
        assert_eq!(result.caching(), Caching::new(0, CacheScope::Public));
    }

    #[test]
    fn hints_come_back_as_they_were_set() {
        let caching = Caching::new(300_000, CacheScope::Public);
        let result = ListToolsResult::new(vec![]).with_caching(caching.clone());
        assert_eq!(result.caching(), caching);
        assert_eq!(result.ttl_ms, Some(300_000));
    }
}
