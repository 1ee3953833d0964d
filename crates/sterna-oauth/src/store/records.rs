//! The credential store, with types.

use std::fmt;
use std::sync::Arc;

use super::{CredentialKey, CredentialStore, v1};
use crate::client::{ClientAuth, DynamicRegistration};
use crate::error::{Error, Fault, Step};
use crate::secret::Secret;
use crate::token::Session;

/// Reads and writes records, and believes only those that belong where they are.
#[derive(Clone)]
pub(crate) struct CredentialRecords(Arc<dyn CredentialStore>);

impl CredentialRecords {
    pub(crate) fn new(store: Arc<dyn CredentialStore>) -> Self {
        Self(store)
    }

    /// The session of the MCP server at `url`, if there is one that can be used.
    pub(crate) async fn session(
        &self,
        url: &str,
        configured: impl FnOnce(&str, Option<&str>) -> Option<ClientAuth>,
    ) -> Result<Option<Session>, Error> {
        let key = CredentialKey::Server {
            url: url.to_owned(),
        };
        let server: Option<v1::Server> = self.load(&key).await?;
        let Some(server) = server.filter(|server| server.url == url) else {
            return Ok(None);
        };
        let v1::Server {
            issuer, resource, ..
        } = server;
        let key = tokens_key(&issuer, &resource);
        let tokens: Option<v1::Tokens> = self.load(&key).await?;
        let own = tokens.filter(|own| own.issuer == issuer && own.resource == resource);
        Ok(own.and_then(|tokens| tokens.into_session(|id| configured(&issuer, id))))
    }

    pub(crate) async fn save_session(&self, url: &str, session: &Session) -> Result<(), Error> {
        let key = tokens_key(&session.issuer, &session.resource);
        self.save(&key, v1::write(&v1::Tokens::new(session)))
            .await?;
        let key = CredentialKey::Server {
            url: url.to_owned(),
        };
        self.save(&key, v1::write(&v1::Server::new(url, session)))
            .await
    }

    pub(crate) async fn remove_session(&self, session: &Session) -> Result<(), Error> {
        self.remove(&tokens_key(&session.issuer, &session.resource))
            .await
    }

    pub(crate) async fn client(&self, issuer: &str) -> Result<Option<DynamicRegistration>, Error> {
        let registered: Option<v1::Registered> = self.load(&client_key(issuer)).await?;
        let own = registered.filter(|own| own.issuer == issuer);
        Ok(own.and_then(v1::Registered::into_dynamic))
    }

    pub(crate) async fn save_client(
        &self,
        issuer: &str,
        dynamic: &DynamicRegistration,
    ) -> Result<(), Error> {
        let record = v1::Registered::new(issuer, dynamic);
        self.save(&client_key(issuer), v1::write(&record)).await
    }

    pub(crate) async fn remove_client(&self, issuer: &str) -> Result<(), Error> {
        self.remove(&client_key(issuer)).await
    }

    async fn load<T: serde::de::DeserializeOwned>(
        &self,
        key: &CredentialKey,
    ) -> Result<Option<T>, Error> {
        let found = self.0.load(key).await.map_err(failed)?;
        Ok(found.as_ref().and_then(v1::read))
    }

    async fn save(&self, key: &CredentialKey, value: Secret) -> Result<(), Error> {
        self.0.save(key, value).await.map_err(failed)
    }

    async fn remove(&self, key: &CredentialKey) -> Result<(), Error> {
        self.0.remove(key).await.map_err(failed)
    }
}

impl fmt::Debug for CredentialRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CredentialRecords(…)")
    }
}

fn client_key(issuer: &str) -> CredentialKey {
    let issuer = issuer.to_owned();
    CredentialKey::Client { issuer }
}

fn tokens_key(issuer: &str, resource: &str) -> CredentialKey {
    let (issuer, resource) = (issuer.to_owned(), resource.to_owned());
    CredentialKey::Tokens { issuer, resource }
}

fn failed(error: super::BoxError) -> Error {
    Error::new(Step::Store, Fault::Store(error))
}
