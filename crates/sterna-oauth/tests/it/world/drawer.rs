//! A credential store that a test can look into.

use std::collections::BTreeMap;
use std::sync::Mutex;

use sterna_oauth::{BoxError, BoxFuture, CredentialKey, CredentialStore, Secret};

/// A store whose content a test can see and change.
#[derive(Default)]
pub(crate) struct Drawer(Mutex<BTreeMap<String, String>>);

impl Drawer {
    pub(crate) fn put(&self, key: &str, value: &str) {
        self.0
            .lock()
            .unwrap()
            .insert(key.to_owned(), value.to_owned());
    }

    pub(crate) fn entries(&self) -> BTreeMap<String, String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn replace(&self, entries: BTreeMap<String, String>) {
        *self.0.lock().unwrap() = entries;
    }

    pub(crate) fn show(&self) -> String {
        let entries = self.0.lock().unwrap();
        entries
            .iter()
            .map(|(key, value)| format!("{key}\n  {value}\n"))
            .collect()
    }
}

impl CredentialStore for Drawer {
    fn load<'a>(
        &'a self,
        key: &'a CredentialKey,
    ) -> BoxFuture<'a, Result<Option<Secret>, BoxError>> {
        let found = self.0.lock().unwrap().get(&key.to_string()).cloned();
        Box::pin(async { Ok(found.map(Secret::from)) })
    }

    fn save<'a>(
        &'a self,
        key: &'a CredentialKey,
        value: Secret,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        self.put(&key.to_string(), value.expose());
        Box::pin(async { Ok(()) })
    }

    fn remove<'a>(&'a self, key: &'a CredentialKey) -> BoxFuture<'a, Result<(), BoxError>> {
        self.0.lock().unwrap().remove(&key.to_string());
        Box::pin(async { Ok(()) })
    }
}
