//! Private keys that sign assertions.

use std::fmt;
use std::sync::Arc;

use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaEncoding, RsaKeyPair,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};

use crate::oauth::error::{Error, Fault, Step, printable};
use crate::oauth::jwt;

/// A private key whose public half the authorization server knows.
///
/// P-256 signs as ES256, P-384 as ES384, Ed25519 as EdDSA, RSA as RS256 or, if
/// the server lists only that, PS256.
#[derive(Clone)]
pub struct SigningKey {
    pair: Arc<Pair>,
    id: Option<String>,
}

enum Pair {
    Ed25519(Ed25519KeyPair),
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

impl SigningKey {
    /// Reads a PKCS#8 key (`BEGIN PRIVATE KEY`).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Misuse`](super::super::ErrorKind::Misuse) if it is not one, is encrypted or of another kind;
    /// `openssl pkcs8 -topk8 -nocrypt` converts most keys.
    pub fn from_pem(pem: &str) -> Result<Self, Error> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| Fault::Key("it is not an unencrypted PKCS#8 key in PEM"));
        let pair = der.and_then(|der| Pair::from_pkcs8(der.secret_pkcs8_der()));
        match pair {
            Ok(pair) => Ok(Self {
                pair: Arc::new(pair),
                id: None,
            }),
            Err(fault) => Err(Error::new(Step::Setup, fault)),
        }
    }

    /// Names the key by its `kid`, for servers that know several of ours.
    #[must_use]
    pub fn key_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Signs `claims` with the first algorithm of this key that the server
    /// knows, or with the key's usual one if it does not say.
    pub(in crate::oauth) fn sign(
        &self,
        known: Option<&[String]>,
        claims: &Value,
    ) -> Result<String, Fault> {
        let fits = |name: &str| known.is_none_or(|known| known.iter().any(|own| own == name));
        let algorithm = self.pair.algorithms().iter().find(|name| fits(name));
        let algorithm = algorithm.ok_or_else(|| Fault::KeyAlgorithm {
            offered: printable(&known.unwrap_or_default().join(", ")),
        })?;
        let mut header = json!({"alg": algorithm, "typ": "JWT"});
        if let Some(id) = &self.id {
            header["kid"] = json!(id);
        }
        jwt::encode(&header, claims, |input| self.pair.sign(algorithm, input))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.pair.algorithms()[0])
    }
}

impl Pair {
    fn from_pkcs8(der: &[u8]) -> Result<Self, Fault> {
        let random = SystemRandom::new();
        let ecdsa = |algorithm| EcdsaKeyPair::from_pkcs8(algorithm, der, &random);
        if let Ok(pair) = ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING) {
            Ok(Self::P256(pair))
        } else if let Ok(pair) = ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING) {
            Ok(Self::P384(pair))
        } else if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            Ok(Self::Ed25519(pair))
        } else if let Ok(pair) = RsaKeyPair::from_pkcs8(der) {
            Ok(Self::Rsa(pair))
        } else {
            Err(Fault::Key("it is of a kind that is not supported"))
        }
    }

    fn algorithms(&self) -> &'static [&'static str] {
        match self {
            Self::Ed25519(_) => &["EdDSA"],
            Self::P256(_) => &["ES256"],
            Self::P384(_) => &["ES384"],
            Self::Rsa(_) => &["RS256", "PS256"],
        }
    }

    fn sign(&self, algorithm: &str, input: &[u8]) -> Result<Vec<u8>, Fault> {
        let random = SystemRandom::new();
        match self {
            Self::Ed25519(pair) => Ok(pair.sign(input).as_ref().to_vec()),
            Self::P256(pair) | Self::P384(pair) => pair
                .sign(&random, input)
                .map(|signature| signature.as_ref().to_vec())
                .map_err(|_| Fault::NoRandomness),
            Self::Rsa(pair) => {
                let encoding: &dyn RsaEncoding = match algorithm {
                    "PS256" => &RSA_PSS_SHA256,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(encoding, &random, input, &mut signature)
                    .map_err(|_| Fault::NoRandomness)?;
                Ok(signature)
            }
        }
    }
}
