//! Proof that we hold the key a token is bound to (RFC 9449).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderName};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::client::encode_jwt;
use crate::clock::UnixSeconds;
use crate::error::Fault;
use crate::secret::random_token;

/// A P-256 key that exists for one grant and signs ES256 proofs.
pub(crate) struct DpopKey {
    pair: EcdsaKeyPair,
    pkcs8: Zeroizing<Vec<u8>>,
    jwk: Value,
}

impl DpopKey {
    pub(crate) fn generate() -> Result<Self, Fault> {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
            .map_err(|_| Fault::NoRandomness)?;
        Self::from_pkcs8(pkcs8.as_ref())
    }

    pub(crate) fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, Fault> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &random)
            .map_err(|_| Fault::Key("it is not the key that was stored"))?;
        // An uncompressed point: a marker byte, then both coordinates.
        let point = pair.public_key().as_ref();
        let (x, y) = point[1..].split_at(32);
        let jwk = json!({
            "crv": "P-256",
            "kty": "EC",
            "x": URL_SAFE_NO_PAD.encode(x),
            "y": URL_SAFE_NO_PAD.encode(y),
        });
        Ok(Self {
            pair,
            pkcs8: Zeroizing::new(pkcs8.to_vec()),
            jwk,
        })
    }

    pub(crate) fn pkcs8(&self) -> &[u8] {
        &self.pkcs8
    }

    /// The key's name (RFC 7638): a hash of its members in alphabetical order.
    pub(crate) fn thumbprint(&self) -> String {
        hash(&self.jwk.to_string())
    }

    /// A proof for one request; `token` is the token of the request, if it has one.
    pub(crate) fn prove(
        &self,
        method: &str,
        uri: &str,
        nonce: Option<&str>,
        token: Option<&str>,
    ) -> Result<String, Fault> {
        let header = json!({"alg": "ES256", "jwk": self.jwk, "typ": "dpop+jwt"});
        let mut claims = json!({
            "htm": method,
            "htu": uri.split(['?', '#']).next().unwrap_or_default(),
            "iat": UnixSeconds::now().0,
            "jti": random_token()?,
        });
        if let Some(nonce) = nonce {
            claims["nonce"] = json!(nonce);
        }
        if let Some(token) = token {
            claims["ath"] = json!(hash(token));
        }
        encode_jwt(&header, &claims, |input| {
            let signature = self.pair.sign(&SystemRandom::new(), input);
            let signature = signature.map_err(|_| Fault::NoRandomness)?;
            Ok(signature.as_ref().to_vec())
        })
    }
}

impl fmt::Debug for DpopKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DpopKey({})", self.thumbprint())
    }
}

/// The latest nonce of each server that wants one in its proofs.
#[derive(Debug, Default)]
pub(crate) struct Nonces(Mutex<BTreeMap<String, String>>);

impl Nonces {
    /// Takes note of a nonce; any answer may bring a new one.
    pub(crate) fn learn(&self, origin: &str, headers: &HeaderMap) {
        let Some(nonce) = nonce(headers) else { return };
        let mut nonces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if nonces.len() < MAX_ORIGINS || nonces.contains_key(origin) {
            nonces.insert(origin.to_owned(), nonce.to_owned());
        }
    }

    pub(crate) fn of(&self, origin: &str) -> Option<String> {
        let nonces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        nonces.get(origin).cloned()
    }
}

/// The nonce an answer brings, if it is one that may stand in a proof.
pub(crate) fn nonce(headers: &HeaderMap) -> Option<&str> {
    let nonce = headers.get(&DPOP_NONCE)?.to_str().ok()?;
    (!nonce.is_empty() && nonce.len() <= MAX_NONCE_BYTES).then_some(nonce)
}

fn hash(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

pub(crate) const DPOP: HeaderName = HeaderName::from_static("dpop");
const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// The MCP server and one authorization server at a time; room for a few that
/// were replaced.
const MAX_ORIGINS: usize = 16;
const MAX_NONCE_BYTES: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_being_stored() {
        let key = DpopKey::generate().unwrap();
        let restored = DpopKey::from_pkcs8(key.pkcs8()).unwrap();
        assert_eq!(key.thumbprint(), restored.thumbprint());
        assert!(DpopKey::from_pkcs8(b"something else").is_err());
    }

    #[test]
    fn the_thumbprint_is_a_hash_of_the_members_in_order() {
        let key = DpopKey::generate().unwrap();
        let (x, y) = (&key.jwk["x"], &key.jwk["y"]);
        let canonical = format!(r#"{{"crv":"P-256","kty":"EC","x":{x},"y":{y}}}"#);
        assert_eq!(key.thumbprint(), hash(&canonical));
    }

    #[test]
    fn the_latest_nonce_of_a_server_is_kept_and_nonsense_is_not() {
        let nonces = Nonces::default();
        let answer = |nonce: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(DPOP_NONCE, nonce.parse().unwrap());
            headers
        };
        nonces.learn("https://a.example", &answer("one"));
        nonces.learn("https://a.example", &answer("two"));
        nonces.learn("https://a.example", &answer(""));
        nonces.learn("https://a.example", &answer(&"x".repeat(2000)));
        assert_eq!(nonces.of("https://a.example").as_deref(), Some("two"));
        assert_eq!(nonces.of("https://b.example"), None);
        for n in 0..100 {
            nonces.learn(&format!("https://{n}.example"), &answer("flood"));
        }
        assert_eq!(nonces.0.lock().unwrap().len(), MAX_ORIGINS);
    }
}
