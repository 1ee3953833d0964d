//! Checking signatures, written without the code under test.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair,
    UnparsedPublicKey,
};
use serde_json::{Value, json};

/// A key pair of a test, as PEM for the client and as a verifier for a server.
pub(crate) struct TestKey {
    pub(crate) pem: String,
    pair: EcdsaKeyPair,
}

impl TestKey {
    pub(crate) fn generate() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let body = base64::engine::general_purpose::STANDARD.encode(pkcs8.as_ref());
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).unwrap();
        Self { pem, pair }
    }

    pub(crate) fn public(&self) -> Vec<u8> {
        self.pair.public_key().as_ref().to_vec()
    }

    /// A signed JWT, such as an identity provider would issue.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        let header = json!({"alg": "ES256", "typ": "JWT"});
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let input = format!("{}.{}", encode(&header), encode(claims));
        let signature = self.pair.sign(&SystemRandom::new(), input.as_bytes());
        let signature = URL_SAFE_NO_PAD.encode(signature.unwrap());
        format!("{input}.{signature}")
    }
}

/// A JWT taken apart; nothing of it is verified yet.
pub(crate) struct Jwt {
    pub(crate) header: Value,
    pub(crate) claims: Value,
    input: String,
    signature: Vec<u8>,
}

impl Jwt {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (input, signature) = text.rsplit_once('.')?;
        let (header, claims) = input.split_once('.')?;
        let decode = |part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok();
        Some(Self {
            header: decode(header)?,
            claims: decode(claims)?,
            input: input.to_owned(),
            signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
        })
    }

    pub(crate) fn is_signed_by(&self, public: &[u8]) -> bool {
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public);
        let verified = key.verify(self.input.as_bytes(), &self.signature);
        self.header["alg"] == "ES256" && verified.is_ok()
    }
}

/// The request that a DPoP proof must fit.
pub(crate) struct Proven<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: &'a str,
    pub(crate) token: Option<&'a str>,
}

impl Proven<'_> {
    /// Checks a proof as RFC 9449 section 4.3 says; returns it with the key's
    /// thumbprint.
    pub(crate) fn check(&self, proof: Option<&str>) -> Result<(Jwt, String), &'static str> {
        let jwt = Jwt::parse(proof.ok_or("no proof")?).ok_or("not a JWT")?;
        let jwk = &jwt.header["jwk"];
        let coordinate = |name| {
            jwk[name]
                .as_str()
                .map(|c| URL_SAFE_NO_PAD.decode(c).unwrap())
        };
        let (Some(x), Some(y)) = (coordinate("x"), coordinate("y")) else {
            return Err("no key");
        };
        let point = [&[4], x.as_slice(), y.as_slice()].concat();
        let ath = self.token.map(hash);
        let faults = [
            (jwt.header["typ"] != "dpop+jwt", "typ"),
            (jwk.get("d").is_some(), "private key"),
            (jwk["crv"] != "P-256" || jwk["kty"] != "EC", "curve"),
            (!jwt.is_signed_by(&point), "signature"),
            (jwt.claims["htm"] != self.method, "htm"),
            (jwt.claims["htu"] != self.url, "htu"),
            (jwt.claims["iat"].as_u64().is_none(), "iat"),
            (
                jwt.claims["jti"].as_str().is_none_or(|jti| jti.len() < 16),
                "jti",
            ),
            (jwt.claims["ath"].as_str() != ath.as_deref(), "ath"),
        ];
        if let Some((_, fault)) = faults.into_iter().find(|(wrong, _)| *wrong) {
            return Err(fault);
        }
        let (x, y) = (&jwk["x"], &jwk["y"]);
        let thumbprint = hash(&format!(r#"{{"crv":"P-256","kty":"EC","x":{x},"y":{y}}}"#));
        Ok((jwt, thumbprint))
    }
}

pub(crate) fn hash(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}
