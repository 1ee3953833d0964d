//! Signed tokens in compact form: reading them and checking their signature.

use base64_simd::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::TokenFault;

/// Signature algorithm of a token.
///
/// Signatures by a key pair only: `none` does not exist here, and a public key
/// cannot be passed off as a shared secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are those of RFC 7518 and RFC 8037")]
pub enum Algorithm {
    EdDsa,
    Es256,
    Es384,
    Ps256,
    Ps384,
    Ps512,
    Rs256,
    Rs384,
    Rs512,
}

impl Algorithm {
    /// Every algorithm there is here.
    pub const ALL: [Self; 9] = [
        Self::EdDsa,
        Self::Es256,
        Self::Es384,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
    ];

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::EdDsa => "EdDSA",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
        }
    }
}

/// A token taken apart. Nothing in it is to be believed yet.
pub(super) struct Compact<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) key_id: Option<String>,
    pub(super) payload: Vec<u8>,
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> Compact<'a> {
    pub(super) fn parse(token: &'a str) -> Result<Self, TokenFault> {
        let malformed = || TokenFault::Malformed;
        let (signed, signature) = token.rsplit_once('.').ok_or_else(malformed)?;
        let (header, payload) = signed.split_once('.').ok_or_else(malformed)?;
        let header: Header = serde_json::from_slice(&decode(header)?).map_err(|_| malformed())?;
        if header.crit.is_some() || !header.typ.is_none_or(|typ| is_access_token(&typ)) {
            return Err(TokenFault::Malformed);
        }
        Ok(Self {
            algorithm: Algorithm::parse(&header.alg).ok_or(TokenFault::Algorithm)?,
            key_id: header.kid,
            payload: decode(payload)?,
            signed,
            signature: decode(signature)?,
        })
    }

    pub(super) fn is_signed_by(&self, key: &PublicKey) -> Result<(), TokenFault> {
        key.verify(self.algorithm, self.signed.as_bytes(), &self.signature)
    }
}

/// One key of an issuer. Its kind says which algorithms it can be used with.
#[derive(Clone, Debug)]
pub(super) enum PublicKey {
    Ed25519(Vec<u8>),
    P256(Vec<u8>),
    P384(Vec<u8>),
    Rsa { n: Vec<u8>, e: Vec<u8> },
}

impl PublicKey {
    pub(super) fn fits(&self, algorithm: Algorithm) -> bool {
        match algorithm {
            Algorithm::EdDsa => matches!(self, Self::Ed25519(_)),
            Algorithm::Es256 => matches!(self, Self::P256(_)),
            Algorithm::Es384 => matches!(self, Self::P384(_)),
            Algorithm::Ps256
            | Algorithm::Ps384
            | Algorithm::Ps512
            | Algorithm::Rs256
            | Algorithm::Rs384
            | Algorithm::Rs512 => matches!(self, Self::Rsa { .. }),
        }
    }

    fn verify(&self, algorithm: Algorithm, signed: &[u8], sig: &[u8]) -> Result<(), TokenFault> {
        let plain = |scheme: &'static dyn VerificationAlgorithm, point: &[u8]| {
            UnparsedPublicKey::new(scheme, point).verify(signed, sig)
        };
        let rsa = |scheme: &'static RsaParameters, n: &[u8], e: &[u8]| {
            RsaPublicKeyComponents { n, e }.verify(scheme, signed, sig)
        };
        let result = match (algorithm, self) {
            (Algorithm::EdDsa, Self::Ed25519(point)) => plain(&ED25519, point),
            (Algorithm::Es256, Self::P256(point)) => plain(&ECDSA_P256_SHA256_FIXED, point),
            (Algorithm::Es384, Self::P384(point)) => plain(&ECDSA_P384_SHA384_FIXED, point),
            (Algorithm::Ps256, Self::Rsa { n, e }) => rsa(&RSA_PSS_2048_8192_SHA256, n, e),
            (Algorithm::Ps384, Self::Rsa { n, e }) => rsa(&RSA_PSS_2048_8192_SHA384, n, e),
            (Algorithm::Ps512, Self::Rsa { n, e }) => rsa(&RSA_PSS_2048_8192_SHA512, n, e),
            (Algorithm::Rs256, Self::Rsa { n, e }) => rsa(&RSA_PKCS1_2048_8192_SHA256, n, e),
            (Algorithm::Rs384, Self::Rsa { n, e }) => rsa(&RSA_PKCS1_2048_8192_SHA384, n, e),
            (Algorithm::Rs512, Self::Rsa { n, e }) => rsa(&RSA_PKCS1_2048_8192_SHA512, n, e),
            _ => return Err(TokenFault::Algorithm),
        };
        result.map_err(|_| TokenFault::Signature)
    }
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<IgnoredAny>,
}

/// RFC 9068 types an access token; most issuers write the general `JWT` or
/// nothing. Any other type is a token made for something else.
fn is_access_token(typ: &str) -> bool {
    ["at+jwt", "application/at+jwt", "jwt"]
        .iter()
        .any(|accepted| typ.eq_ignore_ascii_case(accepted))
}

fn decode(part: &str) -> Result<Vec<u8>, TokenFault> {
    URL_SAFE_NO_PAD
        .decode_to_vec(part)
        .map_err(|_| TokenFault::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(header: &str, rest: &str, expected: TokenFault) {
        let token = format!("{}{rest}", URL_SAFE_NO_PAD.encode_to_string(header));
        let fault = Compact::parse(&token).err();
        assert_eq!(fault, Some(expected), "{header} {rest}");
    }

    #[test]
    fn only_a_whole_access_token_with_a_known_algorithm_is_read() {
        let good = r#"{"alg":"ES256","typ":"at+JWT","kid":"1"}"#;
        let token = format!("{}.e30.AA", URL_SAFE_NO_PAD.encode_to_string(good));
        assert_eq!(
            Compact::parse(&token).map(|t| t.algorithm),
            Ok(Algorithm::Es256)
        );

        check(r#"{"alg":"none"}"#, ".e30.", TokenFault::Algorithm);
        check(r#"{"alg":"None"}"#, ".e30.", TokenFault::Algorithm);
        check(r#"{"alg":"HS256"}"#, ".e30.AA", TokenFault::Algorithm);
        check(r#"{"alg":"es256"}"#, ".e30.AA", TokenFault::Algorithm);
        check(
            r#"{"alg":"ES256","crit":["x"]}"#,
            ".e30.AA",
            TokenFault::Malformed,
        );
        check(
            r#"{"alg":"ES256","typ":"dpop+jwt"}"#,
            ".e30.AA",
            TokenFault::Malformed,
        );
        check(
            r#"{"alg":"ES256","alg":"none"}"#,
            ".e30.AA",
            TokenFault::Malformed,
        );
        check(good, "", TokenFault::Malformed);
        check(good, ".e30", TokenFault::Malformed);
        check(good, ".e30.AA.AA", TokenFault::Malformed);
        check(good, ".e30=.AA", TokenFault::Malformed);
        check(good, ".e3 0.AA", TokenFault::Malformed);
        check(good, ".e31.AA", TokenFault::Malformed);
    }
}
