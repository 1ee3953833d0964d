//! Version 1 of the stored records. Frozen: a change makes a `v2.rs`.
//!
//! Every record repeats what its key says, so that a store which mixes entries
//! up cannot make us show a token to the wrong server.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::client::{Client, ClientAuth, DynamicRegistration, Method};
use crate::clock::UnixSeconds;
use crate::secret::Secret;
use crate::token::{DpopKey, Scheme, Session};

/// Which issuer and resource an MCP server led to.
#[derive(Serialize, Deserialize)]
pub(super) struct Server {
    v: u8,
    pub(super) url: String,
    pub(super) issuer: String,
    pub(super) resource: String,
}

impl Server {
    pub(super) fn new(url: &str, session: &Session) -> Self {
        Self {
            v: VERSION,
            url: url.to_owned(),
            issuer: session.issuer.clone(),
            resource: session.resource.clone(),
        }
    }
}

/// A dynamic registration.
#[derive(Serialize, Deserialize)]
pub(super) struct Registered {
    v: u8,
    pub(super) issuer: String,
    client_id: String,
    method: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<Zeroizing<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_expires: Option<u64>,
    redirect_uri: String,
}

impl Registered {
    pub(super) fn new(issuer: &str, dynamic: &DynamicRegistration) -> Self {
        Self {
            v: VERSION,
            issuer: issuer.to_owned(),
            client_id: dynamic.client_id.clone(),
            method: dynamic.method.name().to_owned(),
            secret: dynamic.secret.as_ref().map(copy),
            secret_expires: dynamic.secret_expires.map(|at| at.0),
            redirect_uri: dynamic.redirect_uri.clone(),
        }
    }

    pub(super) fn into_dynamic(self) -> Option<DynamicRegistration> {
        Some(DynamicRegistration {
            client_id: self.client_id,
            method: Method::parse(&self.method)?,
            secret: self.secret.map(|secret| Secret::from(&**secret)),
            secret_expires: self.secret_expires.map(UnixSeconds),
            redirect_uri: self.redirect_uri,
        })
    }
}

/// Tokens, and the client they were issued to.
#[derive(Serialize, Deserialize)]
pub(super) struct Tokens {
    v: u8,
    pub(super) issuer: String,
    pub(super) resource: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_id: Option<String>,
    /// Present if the client was registered dynamically; other clients are configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    registered: Option<Registered>,
    access: Zeroizing<String>,
    scheme: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh: Option<Zeroizing<String>>,
    requested: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dpop_key: Option<Zeroizing<String>>,
}

impl Tokens {
    pub(super) fn new(session: &Session) -> Self {
        let dynamic = session.client.dynamic.as_ref();
        let key = session.dpop.as_ref();
        Self {
            v: VERSION,
            issuer: session.issuer.clone(),
            resource: session.resource.clone(),
            client_id: session.client.id.clone(),
            registered: dynamic.map(|dynamic| Registered::new(&session.issuer, dynamic)),
            access: copy(&session.access),
            scheme: session.scheme.name().to_owned(),
            expires: session.expires.map(|at| at.0),
            refresh_at: session.refresh_at.map(|at| at.0),
            refresh: session.refresh.as_ref().map(copy),
            requested: session.requested.iter().map(str::to_owned).collect(),
            dpop_key: key.map(|key| Zeroizing::new(URL_SAFE_NO_PAD.encode(key.pkcs8()))),
        }
    }

    /// Rebuilds the session; `configured` finds the client of an id that is not
    /// stored here.
    pub(super) fn into_session(
        self,
        configured: impl FnOnce(Option<&str>) -> Option<ClientAuth>,
    ) -> Option<Session> {
        let client = match self.registered {
            Some(registered) => Client::from(registered.into_dynamic()?),
            None => Client {
                auth: configured(self.client_id.as_deref())?,
                id: self.client_id,
                dynamic: None,
            },
        };
        let dpop = match self.dpop_key {
            Some(text) => {
                let pkcs8 = Zeroizing::new(URL_SAFE_NO_PAD.decode(&**text).ok()?);
                Some(Arc::new(DpopKey::from_pkcs8(&pkcs8).ok()?))
            }
            None => None,
        };
        let scheme = Scheme::parse(&self.scheme)?;
        // A bound token without its key is as good as none.
        if (scheme == Scheme::Dpop) != dpop.is_some() {
            return None;
        }
        Some(Session {
            issuer: self.issuer,
            resource: self.resource,
            client,
            access: Secret::from(&**self.access),
            scheme,
            expires: self.expires.map(UnixSeconds),
            refresh_at: self.refresh_at.map(UnixSeconds),
            refresh: self.refresh.map(|token| Secret::from(&**token)),
            requested: self.requested.into_iter().collect(),
            dpop,
        })
    }
}

pub(super) fn write(record: &impl Serialize) -> Secret {
    let text = serde_json::to_string(record).expect("records hold only text and numbers");
    Secret::from(text)
}

/// Reads a record of this version; anything else counts as nothing stored.
pub(super) fn read<T: DeserializeOwned>(text: &Secret) -> Option<T> {
    #[derive(Deserialize)]
    struct Version {
        v: u8,
    }
    let version: Version = serde_json::from_str(text.expose()).ok()?;
    (version.v == VERSION).then(|| serde_json::from_str(text.expose()).ok())?
}

fn copy(secret: &Secret) -> Zeroizing<String> {
    Zeroizing::new(secret.expose().to_owned())
}

const VERSION: u8 = 1;
