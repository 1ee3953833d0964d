//! DynamicRegistration registration (RFC 7591), for servers that offer nothing better.

use http::{HeaderMap, HeaderValue};

use super::{ClientAuth, ClientMetadata};
use crate::clock::UnixSeconds;
use crate::discovery::AuthorizationServer;
use crate::endpoint::Endpoint;
use crate::error::Fault;
use crate::http::Http;
use crate::printable::printable;
use crate::secret::Secret;

/// A client that an authorization server has registered for us.
#[derive(Clone, Debug)]
pub(crate) struct DynamicRegistration {
    pub(crate) client_id: String,
    pub(crate) method: Method,
    pub(crate) secret: Option<Secret>,
    pub(crate) secret_expires: Option<UnixSeconds>,
    /// The one redirect URI it was registered with.
    pub(crate) redirect_uri: String,
}

impl DynamicRegistration {
    pub(crate) async fn register(
        http: &Http,
        server: &AuthorizationServer,
        endpoint: &Endpoint,
        metadata: &ClientMetadata,
        redirect_uri: &str,
    ) -> Result<Self, Fault> {
        let wanted = Method::choose(server)?;
        let grants = server.grant_types.as_deref();
        let request = metadata.to_request(redirect_uri, wanted.name(), grants);
        let json = HeaderValue::from_static("application/json");
        let answer = http
            .post(endpoint, HeaderMap::new(), json, &request.to_string())
            .await?;
        let mut document = answer.granted()?;
        let method = match document.text("token_endpoint_auth_method")? {
            Some(name) => Method::parse(name).ok_or_else(|| Fault::NoMethod {
                offered: printable(name),
            })?,
            None => wanted,
        };
        let client_id = document.required("client_id")?.to_owned();
        let secret = document.secret("client_secret")?;
        if secret.is_none() && method != Method::None {
            return Err(Fault::MissingSecret {
                method: method.name(),
            });
        }
        // Zero means that it never expires.
        let expires = document.seconds("client_secret_expires_at")?;
        Ok(Self {
            client_id,
            method,
            secret,
            secret_expires: expires.filter(|at| *at != 0).map(UnixSeconds),
            redirect_uri: redirect_uri.to_owned(),
        })
    }

    /// Returns true if it is still valid and covers `redirect_uri`.
    pub(crate) fn serves(&self, redirect_uri: &str, now: UnixSeconds) -> bool {
        self.redirect_uri == redirect_uri && self.secret_expires.is_none_or(|end| now < end)
    }

    pub(crate) fn auth(&self) -> ClientAuth {
        match (&self.secret, self.method) {
            (Some(secret), Method::Basic) => ClientAuth::secret_basic(secret.clone()),
            (Some(secret), Method::Post) => ClientAuth::secret_post(secret.clone()),
            (_, Method::None) | (None, _) => ClientAuth::none(),
        }
    }
}

/// The methods of authentication a dynamic client may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Basic,
    None,
    Post,
}

impl Method {
    /// A public client where the server allows it: a secret on a user's machine
    /// cannot be kept secret.
    fn choose(server: &AuthorizationServer) -> Result<Self, Fault> {
        let Some(offered) = &server.auth_methods else {
            return Ok(Self::Basic);
        };
        let known = [Self::None, Self::Basic, Self::Post];
        let taken = |method: &Self| offered.iter().any(|own| own == method.name());
        known
            .into_iter()
            .find(taken)
            .ok_or_else(|| Fault::NoMethod {
                offered: printable(&offered.join(", ")),
            })
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        let known = [Self::Basic, Self::None, Self::Post];
        known.into_iter().find(|method| method.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Basic => "client_secret_basic",
            Self::None => "none",
            Self::Post => "client_secret_post",
        }
    }
}
