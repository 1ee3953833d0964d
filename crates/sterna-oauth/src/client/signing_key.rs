//! Private keys that sign assertions.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaEncoding, RsaKeyPair,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};

use crate::error::{Error, Fault, Step};
use crate::printable::printable;

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
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if it is not one, is encrypted or of another kind;
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
    pub(crate) fn sign(&self, known: Option<&[String]>, claims: &Value) -> Result<String, Fault> {
        let fits = |name: &str| known.is_none_or(|known| known.iter().any(|own| own == name));
        let algorithm = self.pair.algorithms().iter().find(|name| fits(name));
        let algorithm = algorithm.ok_or_else(|| Fault::KeyAlgorithm {
            offered: printable(&known.unwrap_or_default().join(", ")),
        })?;
        let mut header = json!({"alg": algorithm, "typ": "JWT"});
        if let Some(id) = &self.id {
            header["kid"] = json!(id);
        }
        encode_jwt(&header, claims, |input| self.pair.sign(algorithm, input))
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

/// Writes a JSON web token in its compact form (RFC 7515): signs `claims` under `header`, which must name the algorithm of `sign`.
pub(crate) fn encode_jwt(
    header: &Value,
    claims: &Value,
    sign: impl FnOnce(&[u8]) -> Result<Vec<u8>, Fault>,
) -> Result<String, Fault> {
    let mut token = URL_SAFE_NO_PAD.encode(header.to_string());
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(claims.to_string(), &mut token);
    let signature = sign(token.as_bytes())?;
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut token);
    Ok(token)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use ring::signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, KeyPair,
        RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256, UnparsedPublicKey,
        VerificationAlgorithm,
    };

    use super::*;

    #[test]
    fn elliptic_keys_sign_what_their_public_half_verifies() {
        let random = SystemRandom::new();
        let p256 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        let p384 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, &random);
        let ed25519 = Ed25519KeyPair::generate_pkcs8(&random);
        check(
            &pem(p256.unwrap().as_ref()),
            None,
            "ES256",
            &ECDSA_P256_SHA256_FIXED,
        );
        check(
            &pem(p384.unwrap().as_ref()),
            None,
            "ES384",
            &ECDSA_P384_SHA384_FIXED,
        );
        check(&pem(ed25519.unwrap().as_ref()), None, "EdDSA", &ED25519);
    }

    #[test]
    fn an_rsa_key_signs_the_way_the_server_knows() {
        check(RSA, None, "RS256", &RSA_PKCS1_2048_8192_SHA256);
        check(RSA, Some("RS256"), "RS256", &RSA_PKCS1_2048_8192_SHA256);
        check(RSA, Some("PS256"), "PS256", &RSA_PSS_2048_8192_SHA256);
        let known = ["ES256".to_owned()];
        let key = SigningKey::from_pem(RSA).unwrap();
        assert!(key.sign(Some(&known), &json!({})).is_err());
    }

    #[track_caller]
    fn check(
        pem: &str,
        known: Option<&str>,
        algorithm: &str,
        verification: &'static dyn VerificationAlgorithm,
    ) {
        let key = SigningKey::from_pem(pem).unwrap().key_id("k");
        assert_eq!(
            format!("{key:?}"),
            format!("SigningKey({})", key.pair.algorithms()[0])
        );
        let known: Option<Vec<_>> = known.map(|known| vec![known.to_owned()]);
        let token = key.sign(known.as_deref(), &json!({"sub": "me"})).unwrap();
        let (input, signature) = token.rsplit_once('.').unwrap();
        let header = URL_SAFE_NO_PAD
            .decode(input.split_once('.').unwrap().0)
            .unwrap();
        let header: Value = serde_json::from_slice(&header).unwrap();
        assert_eq!(header, json!({"alg": algorithm, "kid": "k", "typ": "JWT"}));
        let public = match &*key.pair {
            Pair::Ed25519(pair) => pair.public_key().as_ref().to_vec(),
            Pair::P256(pair) | Pair::P384(pair) => pair.public_key().as_ref().to_vec(),
            Pair::Rsa(pair) => pair.public_key().as_ref().to_vec(),
        };
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let public = UnparsedPublicKey::new(verification, public);
        public.verify(input.as_bytes(), &signature).unwrap();
    }

    fn pem(pkcs8: &[u8]) -> String {
        let body = STANDARD.encode(pkcs8);
        format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n")
    }

    /// A key that was made for this test; ring makes none of this kind.
    const RSA: &str = "\
-----BEGIN PRIVATE KEY-----
MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQCdhH0rxXH36ipF
w9kbxCEy2GWtTnD/d8W/NRhj5+82Na2CbKPKb//h850Hh7cIgYn/CNqQmZFvJwYv
qxqb52pJxnL41DGd4FU6wFahgc3OhkOGgPtCq9YhtG40uohZyTFwwNfjvHqd2V4v
nt+7tDAcuMDTR7MIRdoy81cz+rXRqAQbHFCanC3+vALI75ZV07xVOuTH6+/DTRJC
f+HCv8AvKeqlQbgxrTL5DLCGu6LjZNOipC3Ub3exqINIJCIkvB+KYaYJcxJpOOtF
JQJLIMaN170SUExpSjdjdGEe27bpxSewZ7SehL/j9+oW3SvwCd6u7yJvNXGb6nr9
sHS2wTOVAgMBAAECggEACLlkbJhnj74yqZSHiAf2RfVB6s+UAJvaO8hHQCYbbXQ0
1pFv01ZRGATaWkCd1mT37XeVeDn/meY4BUt2+NJgMUZCUR40W7TBShsj15dZ4vaa
wAgqyNS9nzZGfrmKGpCP7wyVqH5kiC0yEA8lMyWiuIrr2yF24zfQAwLPsW63kHoL
sjzrY+TICWE0zD7SWG2SG7KHQVvD50T0Idp1vx0QGgtY521wJtdelSNRVT0T5Sbi
nMRY+CVOAD6SrrXm6eonFLDjAX6YMh1x4lAuBzhq48lW71Wlw+ZgMlnk6Q2VaYB2
ZlaoQL8s4Mq+hW21tOEEUHfaOW9IfJ9d5Uhnc+n0rQKBgQDY8Y/dGVlBK8NMppLW
T7RIYwzlgEj7EIz9VqcfYRvyQ+qSgIrt/UC6qUvwd/xBO9cRZ5JXO0EhPEnPNRx7
I2qLmCUKHWHCu9if+MfwtcHrGTN8Kdr2hwsirT9Yp/ihEro+He+q0XbVqclzsPtr
S0v4b3nT3TDt8Bw92OomrRYgKwKBgQC54B1P8bKzoRPWfQ8dQev8kRM6ddD94OKg
Oe9ibIAaNTLryXvmqfvy83CR3YTOYJcvBcD9gj2E2txNuB8NNk7l8C39Ljx+7D3H
NCA4y/D7Z3qpfqsrQsKX6Wrs+gE5XZp8FeKtGYEDhUqfhG6dPVcOlWB+rY7aJOzo
7jjGcqBbPwKBgQDOQGK5HtdniVbE8fzaOa65v0nMi7lW0HZqiM6cm7N5Ea7bF9B9
0O+QR1JGTZyK3HxtNJ3Bxzj1gx7dG653N8Wc78oPIr4F6JdcB6b3J6Y0gKIdIqHl
DaC9mB6IiDFt2aMtWUK5kSk8m45GKnXtnQmeKUWW8k0JeeUvu6FpoddOPwKBgBop
8tZS9k2Uqd8yQVNj+RzXKva6qM1jv2LAZPLcxPdrb5yDAv7IBKABJmJR5STLsdw7
mhvVHmW6DPKfrTdF4rs5ILAXtwpCpLuKmdKE2on42epL2zo+rneFsrhixJNXmqxG
xF6LTX66X3Oux4c4oC18V1XdhlMsiXCMP8+nSO0vAoGBANEYWkG7PTYdDWN4tIwc
+x3+cVn7r6Fe4DEbn81px6VRzkAKRaK8llv0Lg8CU+NhePBb1IqhMJy8fs0rhSPj
oSLBPk81lSxCT9TD1mD2akZ1p4GhBYb6GxiOsXMLdFUb9769+PWwZuddqWead9v1
SMAbGPCQI0CulVqgqRctlrjA
-----END PRIVATE KEY-----
";
}
