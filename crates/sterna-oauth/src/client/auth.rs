//! Authentication of a client to a token endpoint.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderValue};
use serde_json::json;
use url::form_urlencoded::byte_serialize;
use zeroize::Zeroizing;

use super::SigningKey;
use crate::clock::UnixSeconds;
use crate::discovery::AuthorizationServer;
use crate::error::Fault;
use crate::form::Form;
use crate::printable::printable;
use crate::secret::{Secret, random_token};

/// Authentication of a client to a token endpoint.
#[derive(Clone, Debug)]
pub struct ClientAuth(Proof);

#[derive(Clone, Debug)]
enum Proof {
    Basic(Secret),
    Key(SigningKey),
    None,
    Post(Secret),
    Secret(Secret),
}

impl ClientAuth {
    /// A public client: it has nothing to prove itself with.
    pub fn none() -> Self {
        Self(Proof::None)
    }

    /// A secret, sent the way the authorization server asks for.
    pub fn secret(secret: impl Into<Secret>) -> Self {
        Self(Proof::Secret(secret.into()))
    }

    /// A secret, always sent as HTTP Basic authentication.
    pub fn secret_basic(secret: impl Into<Secret>) -> Self {
        Self(Proof::Basic(secret.into()))
    }

    /// A secret, always sent inside the form.
    pub fn secret_post(secret: impl Into<Secret>) -> Self {
        Self(Proof::Post(secret.into()))
    }

    /// A private key that signs an assertion for each request (RFC 7523).
    pub fn key(key: SigningKey) -> Self {
        Self(Proof::Key(key))
    }

    /// Adds the proof to a token request that goes to `server`.
    pub(crate) fn apply(
        &self,
        client_id: Option<&str>,
        server: &AuthorizationServer,
        form: &mut Form,
        headers: &mut HeaderMap,
    ) -> Result<(), Fault> {
        let id = client_id.unwrap_or_default();
        match &self.0 {
            Proof::None => {
                form.add_some("client_id", client_id);
            }
            Proof::Post(secret) => add_to_form(id, secret, form),
            Proof::Basic(secret) => add_to_headers(id, secret, headers)?,
            Proof::Secret(secret) => match preferred(server)? {
                "client_secret_post" => add_to_form(id, secret, form),
                _ => add_to_headers(id, secret, headers)?,
            },
            Proof::Key(key) => {
                let now = UnixSeconds::now();
                // The audience is the issuer alone: an assertion that also named
                // an endpoint could be lured to another server.
                let claims = json!({
                    "iss": id,
                    "sub": id,
                    "aud": server.issuer,
                    "jti": random_token()?,
                    "iat": now.0,
                    "exp": now.plus(ASSERTION_SECONDS).0,
                });
                let assertion = key.sign(server.auth_algorithms.as_deref(), &claims)?;
                form.add("client_assertion_type", JWT_BEARER_ASSERTION);
                form.add("client_assertion", &assertion);
            }
        }
        Ok(())
    }
}

fn add_to_form(id: &str, secret: &Secret, form: &mut Form) {
    form.add("client_id", id);
    form.add("client_secret", secret.expose());
}

fn add_to_headers(id: &str, secret: &Secret, headers: &mut HeaderMap) -> Result<(), Fault> {
    // RFC 6749 section 2.3.1 encodes both halves, so a colon cannot be misread.
    let mut pair = Zeroizing::new(String::new());
    pair.extend(byte_serialize(id.as_bytes()));
    pair.push(':');
    pair.extend(byte_serialize(secret.expose().as_bytes()));
    let basic = Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())));
    let mut value = HeaderValue::from_str(&basic).map_err(|_| Fault::BadToken)?;
    value.set_sensitive(true);
    headers.insert(AUTHORIZATION, value);
    Ok(())
}

/// The first way to send a secret that the server takes.
fn preferred(server: &AuthorizationServer) -> Result<&'static str, Fault> {
    let Some(offered) = &server.auth_methods else {
        return Ok("client_secret_basic");
    };
    let taken = |method: &&&str| offered.iter().any(|own| own == **method);
    let ways = ["client_secret_basic", "client_secret_post"];
    let way = ways.iter().find(taken).copied();
    way.ok_or_else(|| Fault::NoMethod {
        offered: printable(&offered.join(", ")),
    })
}

const JWT_BEARER_ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Long enough for a slow network, too short to be worth stealing.
const ASSERTION_SECONDS: u64 = 120;
