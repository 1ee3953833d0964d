//! An authorization server: it signs tokens, publishes its keys and trades tokens.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};
use base64_simd::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use sterna_server::http::Clock;
use url::form_urlencoded;

/// An issuer on a port of its own; it ends with the test.
#[derive(Clone)]
pub(crate) struct Issuer(Arc<IssuerState>);

struct IssuerState {
    url: String,
    key: EcdsaKeyPair,
    /// Tokens that were to be traded.
    traded: Mutex<Vec<String>>,
}

impl Issuer {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let (kind, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        let issuer = Self(Arc::new(IssuerState {
            url: format!("http://{}", listener.local_addr().unwrap()),
            key: EcdsaKeyPair::from_pkcs8(kind, pkcs8.as_ref(), &random).unwrap(),
            traded: Mutex::default(),
        }));
        let app = Router::new()
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/keys", get(keys))
            .route("/token", post(trade))
            .with_state(issuer.clone());
        thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, app).await.unwrap();
            });
        });
        issuer
    }

    pub(crate) fn url(&self) -> &str {
        &self.0.url
    }

    /// A token of `subject` for `audience`.
    pub(crate) fn token(&self, subject: &str, audience: &str, scope: &str) -> String {
        let now = Clock::system().now().duration_since(UNIX_EPOCH).unwrap();
        let header = json!({"alg": "ES256", "typ": "at+jwt", "kid": "one"});
        let claims = json!({
            "iss": self.url(), "sub": subject, "aud": audience, "scope": scope,
            "iat": now.as_secs(), "exp": (now + Duration::from_secs(600)).as_secs(),
        });
        let text = |value: &Value| URL_SAFE_NO_PAD.encode_to_string(value.to_string());
        let input = format!("{}.{}", text(&header), text(&claims));
        let signature = self.0.key.sign(&SystemRandom::new(), input.as_bytes());
        let signature = URL_SAFE_NO_PAD.encode_to_string(signature.unwrap());
        format!("{input}.{signature}")
    }

    pub(crate) fn traded(&self) -> Vec<String> {
        self.0.traded.lock().unwrap().clone()
    }
}

async fn metadata(State(issuer): State<Issuer>) -> Json<Value> {
    let url = issuer.url();
    Json(json!({
        "issuer": url, "jwks_uri": format!("{url}/keys"), "token_endpoint": format!("{url}/token"),
    }))
}

async fn keys(State(issuer): State<Issuer>) -> Json<Value> {
    // An uncompressed point: a marker byte, then both coordinates.
    let (x, y) = issuer.0.key.public_key().as_ref()[1..].split_at(32);
    let text = |part: &[u8]| URL_SAFE_NO_PAD.encode_to_string(part);
    let key = json!({
        "kty": "EC", "crv": "P-256", "alg": "ES256", "kid": "one", "x": text(x), "y": text(y),
    });
    Json(json!({"keys": [key]}))
}

/// Trades the token of `SUBJECT` for `for-SUBJECT`.
async fn trade(State(issuer): State<Issuer>, body: String) -> Json<Value> {
    let mut form = form_urlencoded::parse(body.as_bytes());
    let (_, token) = form.find(|(name, _)| name == "subject_token").unwrap();
    issuer.0.traded.lock().unwrap().push(token.to_string());
    let claims = token.split('.').nth(1).unwrap();
    let claims = URL_SAFE_NO_PAD.decode_to_vec(claims).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    Json(json!({
        "access_token": format!("for-{}", claims["sub"].as_str().unwrap()),
        "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
        "token_type": "Bearer",
        "expires_in": 600,
    }))
}
