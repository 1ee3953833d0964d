//! Client credentials: the client acts for itself.

use super::Order;
use crate::oauth::client::Registration;
use crate::oauth::error::Error;
use crate::oauth::token::TokenRequest;

/// A client that acts for itself, with its own secret or key.
#[derive(Clone, Debug)]
pub struct ClientCredentials {
    pub(super) registration: Registration,
}

impl ClientCredentials {
    /// Uses the client as it was registered.
    pub fn new(registration: Registration) -> Self {
        Self { registration }
    }

    pub(super) fn prepare(&self, order: &Order) -> Result<TokenRequest, Error> {
        order.admit(&self.registration)?;
        let form = order.form("client_credentials");
        order.request(&self.registration, form)
    }
}

impl From<ClientCredentials> for super::Grant {
    fn from(credentials: ClientCredentials) -> Self {
        Self::ClientCredentials(credentials)
    }
}
