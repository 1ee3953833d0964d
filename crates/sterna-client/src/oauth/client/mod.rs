//! Who we are to an authorization server, and how we prove it.

mod auth;
mod dynamic;
mod metadata;
mod registration;
mod signing_key;

pub use auth::ClientAuth;
pub use metadata::ClientMetadata;
pub use registration::Registration;
pub use signing_key::SigningKey;

pub(super) use dynamic::{Dynamic, Method};
pub(super) use registration::is_document_url;

/// The client as one authorization server knows it.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// Absent only where an assertion says who we are.
    pub(super) id: Option<String>,
    pub(super) auth: ClientAuth,
    /// How it was registered, if this module registered it.
    pub(super) dynamic: Option<Dynamic>,
}

impl Client {
    pub(super) fn registered(registration: &Registration) -> Self {
        Self {
            id: registration.client_id.clone(),
            auth: registration.auth.clone(),
            dynamic: None,
        }
    }

    /// A client whose id is the URL of its metadata document.
    pub(super) fn documented(url: &str, auth: &ClientAuth) -> Self {
        Self {
            id: Some(url.to_owned()),
            auth: auth.clone(),
            dynamic: None,
        }
    }
}

impl From<Dynamic> for Client {
    fn from(dynamic: Dynamic) -> Self {
        Self {
            id: Some(dynamic.client_id.clone()),
            auth: dynamic.auth(),
            dynamic: Some(dynamic),
        }
    }
}
