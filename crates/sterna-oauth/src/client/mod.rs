//! The client of an authorization server, and its authentication.

mod auth;
mod dynamic;
mod metadata;
mod registration;
mod signing_key;

pub use auth::ClientAuth;
pub use metadata::ClientMetadata;
pub use registration::Registration;
pub use signing_key::SigningKey;

pub(crate) use dynamic::{DynamicRegistration, Method};
pub(crate) use registration::is_document_url;
pub(crate) use signing_key::encode_jwt;

/// The client as one authorization server knows it.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    /// Absent only where an assertion says who we are.
    pub(crate) id: Option<String>,
    pub(crate) auth: ClientAuth,
    /// Its dynamic registration, if it has one.
    pub(crate) dynamic: Option<DynamicRegistration>,
}

impl Client {
    pub(crate) fn registered(registration: &Registration) -> Self {
        Self {
            id: registration.client_id.clone(),
            auth: registration.auth.clone(),
            dynamic: None,
        }
    }

    /// A client whose id is the URL of its metadata document.
    pub(crate) fn documented(url: &str, auth: &ClientAuth) -> Self {
        Self {
            id: Some(url.to_owned()),
            auth: auth.clone(),
            dynamic: None,
        }
    }
}

impl From<DynamicRegistration> for Client {
    fn from(dynamic: DynamicRegistration) -> Self {
        Self {
            id: Some(dynamic.client_id.clone()),
            auth: dynamic.auth(),
            dynamic: Some(dynamic),
        }
    }
}
