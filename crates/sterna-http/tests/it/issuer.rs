//! An authorization server for the tests: keys, tokens, and a place on the
//! network where the keys are published.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384,
    RSA_PSS_SHA512, RsaKeyPair,
};
use serde_json::{Value, json};
use sterna_http::auth::{JwksSource, Loading, SourceError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::wire::Wire;

pub(crate) const ISSUER: &str = "https://login.example.com";
pub(crate) const RESOURCE: &str = "https://mcp.example.com/mcp";

/// A key pair that signs with one algorithm.
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) algorithm: &'static str,
    pair: Pair,
}

enum Pair {
    Ecdsa(EcdsaKeyPair, &'static str),
    Ed25519(Ed25519KeyPair),
    Rsa(Box<RsaKeyPair>),
}

impl Key {
    /// Makes a new key pair. RSA is the exception: ring does not make those, so
    /// there is one in a file, used nowhere else.
    pub(crate) fn new(id: &str, algorithm: &'static str) -> Self {
        let random = SystemRandom::new();
        let pair = match algorithm {
            "EdDSA" => {
                let document = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
                Pair::Ed25519(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap())
            }
            "ES256" | "ES384" => {
                let (scheme, curve) = match algorithm {
                    "ES256" => (&ECDSA_P256_SHA256_FIXED_SIGNING, "P-256"),
                    _ => (&ECDSA_P384_SHA384_FIXED_SIGNING, "P-384"),
                };
                let document = EcdsaKeyPair::generate_pkcs8(scheme, &random).unwrap();
                let pair = EcdsaKeyPair::from_pkcs8(scheme, document.as_ref(), &random);
                Pair::Ecdsa(pair.unwrap(), curve)
            }
            _ => {
                let document = include_bytes!("fixtures/rsa2048.pk8");
                Pair::Rsa(Box::new(RsaKeyPair::from_pkcs8(document).unwrap()))
            }
        };
        Self {
            id: id.to_owned(),
            algorithm,
            pair,
        }
    }

    /// The public half as it is published.
    pub(crate) fn public(&self) -> Value {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let mut key = match &self.pair {
            Pair::Ed25519(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": text(pair.public_key().as_ref()) })
            }
            Pair::Ecdsa(pair, curve) => {
                let point = &pair.public_key().as_ref()[1..];
                let (x, y) = point.split_at(point.len() / 2);
                json!({ "kty": "EC", "crv": curve, "x": text(x), "y": text(y) })
            }
            Pair::Rsa(pair) => {
                let parts = ring::rsa::PublicKeyComponents::<Vec<u8>>::from(pair.public());
                json!({ "kty": "RSA", "n": text(&parts.n), "e": text(&parts.e), "use": "sig" })
            }
        };
        key["kid"] = self.id.as_str().into();
        key
    }

    /// A token with these claims, and `header` merged over the usual header.
    pub(crate) fn sign(&self, header: Value, claims: &Value) -> String {
        let usual = json!({ "alg": self.algorithm, "typ": "at+jwt", "kid": self.id });
        let header = merged(usual, header);
        let text = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", text(&header), text(claims));
        let signature = self.signature(signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn signature(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
            Pair::Ecdsa(pair, _) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let scheme: &'static dyn ring::signature::RsaEncoding = match self.algorithm {
                    "RS256" => &RSA_PKCS1_SHA256,
                    "RS384" => &RSA_PKCS1_SHA384,
                    "RS512" => &RSA_PKCS1_SHA512,
                    "PS256" => &RSA_PSS_SHA256,
                    "PS384" => &RSA_PSS_SHA384,
                    _ => &RSA_PSS_SHA512,
                };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(scheme, &random, message, &mut signature).unwrap();
                signature
            }
        }
    }

    /// A token that is good for an hour.
    pub(crate) fn token(&self) -> String {
        self.sign(json!({}), &claims(json!({})))
    }
}

/// The claims of a good token with `changes` merged over them; null takes a
/// claim away.
pub(crate) fn claims(changes: Value) -> Value {
    let now = now();
    let good = json!({
        "iss": ISSUER, "aud": RESOURCE, "sub": "alice", "client_id": "app",
        "scope": "mcp", "iat": now, "nbf": now, "exp": now + 3600,
    });
    merged(good, changes)
}

/// Seconds since 1970, as tokens count.
pub(crate) fn now() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "tokens are judged by the real clock"
    )]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH).unwrap().as_secs()
}

pub(crate) fn key_set<'a>(keys: impl IntoIterator<Item = &'a Key>) -> String {
    let keys: Vec<_> = keys.into_iter().map(Key::public).collect();
    json!({ "keys": keys }).to_string()
}

fn merged(mut base: Value, changes: Value) -> Value {
    let Value::Object(changes) = changes else {
        unreachable!("changes are an object");
    };
    for (name, value) in changes {
        if value.is_null() {
            base.as_object_mut().unwrap().remove(&name);
        } else {
            base[name] = value;
        }
    }
    base
}

/// A server that publishes keys.
pub(crate) struct Publisher {
    pub(crate) state: Arc<Published>,
    address: SocketAddr,
    _serving: JoinSet<()>,
}

#[derive(Default)]
pub(crate) struct Published {
    pub(crate) document: Mutex<String>,
    /// Number of requests for the keys.
    pub(crate) asked: AtomicUsize,
    /// While set, an answer waits for `go`.
    pub(crate) slow: std::sync::atomic::AtomicBool,
    pub(crate) go: Notify,
    pub(crate) moved: Notify,
}

impl Publisher {
    pub(crate) async fn start<'a>(keys: impl IntoIterator<Item = &'a Key>) -> Self {
        let state = Arc::new(Published::default());
        *state.document.lock().unwrap() = key_set(keys);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, Arc::clone(&state)));
        Self {
            state,
            address,
            _serving: serving,
        }
    }

    pub(crate) fn publish<'a>(&self, keys: impl IntoIterator<Item = &'a Key>) {
        *self.state.document.lock().unwrap() = key_set(keys);
    }

    /// From now on sends what is no key set.
    pub(crate) fn break_down(&self) {
        "out of order".clone_into(&mut self.state.document.lock().unwrap());
    }

    pub(crate) fn asked(&self) -> usize {
        self.state.asked.load(Ordering::SeqCst)
    }

    pub(crate) fn source(&self) -> impl JwksSource + use<> {
        Url(self.address)
    }
}

async fn serve(listener: TcpListener, state: Arc<Published>) {
    let mut connections = JoinSet::new();
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let state = Arc::clone(&state);
        connections.spawn(async move {
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).await;
            state.asked.fetch_add(1, Ordering::SeqCst);
            state.moved.notify_waiters();
            if state.slow.load(Ordering::SeqCst) {
                state.go.notified().await;
            }
            let document = state.document.lock().unwrap().clone();
            let length = document.len();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
            let _ = stream.write_all((head + &document).as_bytes()).await;
        });
    }
}

/// Keys fetched over the network, without TLS because nothing leaves the machine.
struct Url(SocketAddr);

impl JwksSource for Url {
    fn load(&self) -> Loading {
        let address = self.0;
        Box::pin(async move {
            let mut wire = Wire::connect(address).await;
            let answer = wire.get("/jwks.json").await;
            match answer.status {
                200 => Ok(answer.body.into()),
                status => Err(SourceError::new(format!("status {status}"))),
            }
        })
    }
}
