//! Credentials that end with the process.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::{CredentialKey, CredentialStore};
use crate::BoxFuture;
use crate::error::BoxError;
use crate::secret::Secret;

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
