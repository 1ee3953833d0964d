//! Tokens that the gateway shows to servers: its own, and those of its callers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use sterna_client::Builder;
use sterna_client::oauth::{
    AssertionSource, BoxError, BoxFuture, ClientAuth, ClientCredentials, Error, Grant, OAuth,
    Registration, Secret, TokenExchange,
};
use sterna_server::auth::{Caller, CallerToken};

use crate::config::{
    ConfigError, Connection, Credential, SessionScope, TokenClient, UpstreamConfig,
};

/// Source of the tokens for one server.
#[derive(Debug)]
pub(crate) enum TokenSource {
    /// The server gets header fields only.
    None,
    /// One token, that of the gateway.
    Own(OAuth),
    /// A token for each caller.
    Exchanged { url: String, client: TokenClient },
}

impl TokenSource {
    pub(crate) fn of(config: &UpstreamConfig) -> Result<Self, ConfigError> {
        let refused = |reason: &str| ConfigError::server(&config.name, reason);
        let cannot = |error: Error| ConfigError::server(&config.name, error.to_string());
        let (url, client) = match (&config.connection, &config.credential) {
            (_, Credential::None) => return Ok(Self::None),
            (Connection::Command { .. }, _) => {
                return Err(refused("a program gets its credential in `env`"));
            }
            (Connection::Url { headers, .. }, _)
                if headers
                    .keys()
                    .any(|name| name.eq_ignore_ascii_case("authorization")) =>
            {
                return Err(refused(
                    "`headers` and `credential` both have Authorization",
                ));
            }
            (Connection::Url { url, .. }, Credential::Client(client)) => {
                let grant = ClientCredentials::new(registration(client));
                return build(url, client, grant.into())
                    .map(Self::Own)
                    .map_err(cannot);
            }
            (Connection::Url { url, .. }, Credential::Exchange(client)) => (url, client),
        };
        if config.session == SessionScope::Shared {
            return Err(refused(
                "callers cannot share a session in which each has a token of its own; leave \
                 `session` out",
            ));
        }
        // A mistake in the addresses is to be seen at the start.
        exchange(url, client, Arc::default()).map_err(cannot)?;
        Ok(Self::Exchanged {
            url: url.clone(),
            client: client.clone(),
        })
    }

    /// Returns `true` if a caller without a token cannot be served.
    pub(crate) fn is_of_callers(&self) -> bool {
        matches!(self, Self::Exchanged { .. })
    }

    /// The credential of a group of sessions.
    pub(crate) fn for_group(&self) -> GroupCredential {
        match self {
            Self::None => GroupCredential::default(),
            Self::Own(auth) => GroupCredential {
                auth: Some(auth.clone()),
                latest: None,
            },
            Self::Exchanged { url, client } => {
                let latest = Arc::new(LatestToken::default());
                GroupCredential {
                    // It was built before.
                    auth: exchange(url, client, Arc::clone(&latest)).ok(),
                    latest: Some(latest),
                }
            }
        }
    }
}

/// Credential that the sessions of one group show.
#[derive(Debug, Default)]
pub(crate) struct GroupCredential {
    auth: Option<OAuth>,
    latest: Option<Arc<LatestToken>>,
}

impl GroupCredential {
    /// Has a client show the credential.
    pub(crate) fn attach(&self, builder: Builder) -> Builder {
        match &self.auth {
            Some(auth) => builder.auth(auth.clone()),
            None => builder,
        }
    }

    /// Notes the token of the request at hand, the newest one of its caller.
    pub(crate) fn note(&self, token: Option<&CallerToken>) {
        if let (Some(latest), Some(token)) = (&self.latest, token) {
            let mut latest = latest.0.lock().unwrap_or_else(PoisonError::into_inner);
            *latest = Some(token.clone());
        }
    }

    /// Returns `true` if a token is needed that no request has brought.
    pub(crate) fn lacks_token(&self) -> bool {
        self.latest.as_ref().is_some_and(|latest| {
            let latest = latest.0.lock().unwrap_or_else(PoisonError::into_inner);
            latest.is_none()
        })
    }
}

/// Newest token of one caller with the same rights.
#[derive(Debug, Default)]
struct LatestToken(Mutex<Option<CallerToken>>);

impl AssertionSource for LatestToken {
    fn assertion<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Secret, BoxError>> {
        let latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = latest.as_ref().map(|token| Secret::from(token.expose()));
        Box::pin(async move { latest.ok_or_else(|| "the caller has shown no token".into()) })
    }
}

/// Rights of a caller, as text that is the same for two tokens with the same
/// scopes and claims. A token that was traded for one of many rights must not serve a
/// request whose token has fewer.
pub(crate) fn rights(caller: &Caller) -> String {
    let changing = ["exp", "iat", "jti", "nbf"];
    let claims = caller.claims().iter();
    let claims = claims.filter(|(name, _)| !changing.contains(&name.as_str()));
    let claims: BTreeMap<_, _> = claims.collect();
    // A token that is no JWT has scopes and no claims.
    let rights = (caller.scopes().to_string(), claims);
    serde_json::to_string(&rights).expect("claims are JSON")
}

fn registration(client: &TokenClient) -> Registration {
    let auth = match &client.secret {
        Some(secret) => ClientAuth::secret(secret.clone()),
        None => ClientAuth::none(),
    };
    Registration::new(client.issuer.url(), &client.client_id, auth)
}

fn exchange(url: &str, client: &TokenClient, latest: Arc<LatestToken>) -> Result<OAuth, Error> {
    let mut grant = TokenExchange::new(registration(client), latest);
    if let Some(audience) = &client.audience {
        grant = grant.audience(audience);
    }
    build(url, client, grant.into())
}

fn build(url: &str, client: &TokenClient, grant: Grant) -> Result<OAuth, Error> {
    let oauth = OAuth::builder(url, grant).issuer(client.issuer.clone());
    match client.scopes.as_slice() {
        [] => oauth.build(),
        scopes => oauth.scopes(scopes.iter().cloned()).build(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sterna_server::auth::Principal;

    use super::*;

    #[test]
    fn a_renewed_token_has_the_same_rights_and_one_with_other_claims_has_others() {
        let of = |claims: serde_json::Value| {
            let claims = claims.as_object().unwrap().clone();
            rights(&Caller::from(Principal::named("as", "ann")).with_claims(claims))
        };
        let first = of(json!({"sub": "ann", "scope": "read", "exp": 1, "jti": "a"}));
        let renewed = of(json!({"jti": "b", "exp": 2, "scope": "read", "sub": "ann"}));
        let stronger = of(json!({"sub": "ann", "scope": "read write", "exp": 1}));
        assert_eq!(first, renewed);
        assert_ne!(first, stronger);
    }
}
