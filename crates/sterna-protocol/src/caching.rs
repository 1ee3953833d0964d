//! Caching: lifetime and scope of a result that a client may keep.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::json::OtherName;

/// Caching hints of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caching {
    /// Milliseconds for which the result is fresh after it arrived.
    pub ttl_ms: u64,
    /// Callers that may be served the same copy.
    pub scope: CacheScope,
}

impl Caching {
    /// Stale on arrival and private: the hints of a result without any.
    pub const NONE: Self = Self::new(0, CacheScope::Private);

    /// Creates hints for a result that is fresh for `ttl_ms` milliseconds.
    pub const fn new(ttl_ms: u64, scope: CacheScope) -> Self {
        Self { ttl_ms, scope }
    }
}

/// Lifetime of a result in milliseconds (`ttlMs`).
///
/// Never negative (CACHE-S2): a lifetime below zero is read as zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TtlMs(u64);

impl TtlMs {
    /// Creates a lifetime of `milliseconds`.
    pub const fn new(milliseconds: u64) -> Self {
        Self(milliseconds)
    }

    /// The number of milliseconds.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Serialize for TtlMs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TtlMs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let milliseconds = i128::deserialize(deserializer)?.max(0);
        Ok(Self(u64::try_from(milliseconds).unwrap_or(u64::MAX)))
    }
}

/// Scope of a cached result (`cacheScope`): the callers that may share it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheScope {
    /// For callers with the same authorization only.
    Private,
    /// For every caller.
    Public,
    /// Scope that this revision does not define; treat it as private.
    Other(OtherName),
}

names!(CacheScope {
    Private = "private",
    Public = "public",
});

/// Result with caching hints.
pub trait Cacheable {
    /// Returns the hints of the result, or [`Caching::NONE`] without any.
    fn caching(&self) -> Caching;

    /// Sets the hints, which 2026-07-28 requires. Earlier revisions do not
    /// define them.
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
                self.ttl_ms = Some($crate::caching::TtlMs::new(caching.ttl_ms));
                self.cache_scope = Some(caching.scope);
                self
            }
        })+
    };
}

pub(crate) fn read(ttl_ms: Option<TtlMs>, scope: Option<&CacheScope>) -> Caching {
    let scope = scope.cloned().unwrap_or(CacheScope::Private);
    Caching::new(ttl_ms.unwrap_or_default().get(), scope)
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
        assert_eq!(result.ttl_ms, Some(TtlMs::new(300_000)));
    }
}
