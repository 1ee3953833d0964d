//! Storage of credentials between requests and between runs.

mod records;
mod v1;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

pub(crate) use records::CredentialRecords;

use crate::BoxFuture;
use crate::error::BoxError;
use crate::secret::Secret;

/// Keeps credentials: in memory, in a keychain, in a database.
///
/// A value is text in a versioned format of this module and holds secrets:
/// store it encrypted, readable by one user only. A host that acts for several
/// users gives each of them a store of their own.
///
/// # Examples
///
/// A store that forgets everything:
///
/// ```
/// use sterna_oauth::{BoxError, BoxFuture, CredentialKey, CredentialStore, Secret};
///
/// struct Nowhere;
///
/// impl CredentialStore for Nowhere {
///     fn load<'a>(&'a self, _: &'a CredentialKey) -> BoxFuture<'a, Result<Option<Secret>, BoxError>> {
///         Box::pin(async { Ok(None) })
///     }
///     fn save<'a>(&'a self, _: &'a CredentialKey, _: Secret) -> BoxFuture<'a, Result<(), BoxError>> {
///         Box::pin(async { Ok(()) })
///     }
///     fn remove<'a>(&'a self, _: &'a CredentialKey) -> BoxFuture<'a, Result<(), BoxError>> {
///         Box::pin(async { Ok(()) })
///     }
/// }
/// ```
pub trait CredentialStore: Send + Sync {
    /// Returns the value saved last under `key`.
    fn load<'a>(
        &'a self,
        key: &'a CredentialKey,
    ) -> BoxFuture<'a, Result<Option<Secret>, BoxError>>;

    /// Saves `value` under `key`, replacing the old one.
    fn save<'a>(
        &'a self,
        key: &'a CredentialKey,
        value: Secret,
    ) -> BoxFuture<'a, Result<(), BoxError>>;

    /// Removes the value under `key`. A missing value is no error.
    fn remove<'a>(&'a self, key: &'a CredentialKey) -> BoxFuture<'a, Result<(), BoxError>>;
}

/// Key of a stored value.
///
/// Its `Display` is one line, stable between versions and different for
/// different keys: fit to name an entry of a keychain or a row of a table.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CredentialKey {
    /// Our dynamic registration with an authorization server.
    #[non_exhaustive]
    Client {
        /// The authorization server.
        issuer: String,
    },
    /// Which authorization server an MCP server has led us to.
    #[non_exhaustive]
    Server {
        /// The MCP server's URL as it was configured.
        url: String,
    },
    /// The tokens of one authorization server for one resource.
    #[non_exhaustive]
    Tokens {
        /// The authorization server.
        issuer: String,
        /// The resource identifier of the MCP server.
        resource: String,
    },
}

impl fmt::Display for CredentialKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Issuers and resources are URLs, and those hold no blanks.
        match self {
            Self::Client { issuer } => write!(f, "client {issuer}"),
            Self::Server { url } => write!(f, "server {url}"),
            Self::Tokens { issuer, resource } => write!(f, "tokens {issuer} {resource}"),
        }
    }
}

/// Keeps credentials in memory: every new process signs in again.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<BTreeMap<CredentialKey, Secret>>);

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<CredentialKey, Secret>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CredentialStore for MemoryStore {
    fn load<'a>(
        &'a self,
        key: &'a CredentialKey,
    ) -> BoxFuture<'a, Result<Option<Secret>, BoxError>> {
        Box::pin(async move { Ok(self.with(|entries| entries.get(key).cloned())) })
    }

    fn save<'a>(
        &'a self,
        key: &'a CredentialKey,
        value: Secret,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            self.with(|entries| entries.insert(key.clone(), value));
            Ok(())
        })
    }

    fn remove<'a>(&'a self, key: &'a CredentialKey) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            self.with(|entries| entries.remove(key));
            Ok(())
        })
    }
}
