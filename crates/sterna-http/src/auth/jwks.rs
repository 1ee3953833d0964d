//! An issuer's published keys (RFC 7517), as far as we can use them.

use base64_simd::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::Value;

use super::Algorithm;
use super::jws::PublicKey;

/// The keys of one issuer that can check a signature.
#[derive(Clone, Debug, Default)]
pub(super) struct KeySet(Vec<Key>);

#[derive(Clone, Debug)]
struct Key {
    id: Option<String>,
    only: Option<Algorithm>,
    public: PublicKey,
}

/// The result of looking for the key of a token.
#[derive(Debug)]
pub(super) enum Found<'a> {
    Key(&'a PublicKey),
    /// There is a key of that name, for something else.
    Unfit,
    Unknown,
}

impl KeySet {
    /// Reads a set, passing over keys that are not for signatures or of a kind
    /// we do not know: issuers publish those beside the ones we need.
    pub(super) fn parse(document: &[u8]) -> Result<Self, serde_json::Error> {
        let document: Document = serde_json::from_slice(document)?;
        let keys = document.keys.into_iter().take(MAX_KEYS);
        Ok(Self(
            keys.filter_map(|key| Key::read(serde_json::from_value(key).ok()?))
                .collect(),
        ))
    }

    /// The key for a token that names `id`, or the only one that fits a token
    /// that names none.
    pub(super) fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Found<'_> {
        let named = || {
            self.0
                .iter()
                .filter(|key| id.is_none() || key.id.as_deref() == id)
        };
        let mut fit = named().filter(|key| key.fits(algorithm));
        match (fit.next(), fit.next()) {
            (Some(key), None) => Found::Key(&key.public),
            (Some(key), Some(_)) if id.is_some() => Found::Key(&key.public),
            (None, _) if id.is_some() && named().next().is_some() => Found::Unfit,
            _ => Found::Unknown,
        }
    }

    /// Returns `true` if there is no key that we could use.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|key| key.id.as_deref())
    }
}

impl Key {
    fn read(jwk: Jwk) -> Option<Self> {
        let signs = jwk.usage.is_none_or(|usage| usage == "sig")
            && jwk
                .key_ops
                .is_none_or(|ops| ops.iter().any(|op| op == "verify"));
        if !signs {
            return None;
        }
        let public = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("OKP", Some("Ed25519")) => PublicKey::Ed25519(sized(jwk.x, 32)?),
            ("EC", Some("P-256")) => PublicKey::P256(point(jwk.x, jwk.y, 32)?),
            ("EC", Some("P-384")) => PublicKey::P384(point(jwk.x, jwk.y, 48)?),
            ("RSA", _) => PublicKey::Rsa {
                n: number(jwk.n)?,
                e: number(jwk.e)?,
            },
            _ => return None,
        };
        let only = match jwk.alg {
            None => None,
            Some(name) => Some(Algorithm::parse(&name)?),
        };
        Some(Self {
            id: jwk.kid,
            only,
            public,
        })
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        self.only.is_none_or(|only| only == algorithm) && self.public.fits(algorithm)
    }
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    kid: Option<String>,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    n: Option<String>,
    e: Option<String>,
}

fn sized(field: Option<String>, length: usize) -> Option<Vec<u8>> {
    let bytes = URL_SAFE_NO_PAD.decode_to_vec(field?).ok()?;
    (bytes.len() == length).then_some(bytes)
}

/// A point in the uncompressed form of SEC 1; that it lies on the curve is
/// checked with the first signature.
fn point(x: Option<String>, y: Option<String>, length: usize) -> Option<Vec<u8>> {
    let mut point = vec![4];
    point.extend(sized(x, length)?);
    point.extend(sized(y, length)?);
    Some(point)
}

fn number(field: Option<String>) -> Option<Vec<u8>> {
    let mut bytes = URL_SAFE_NO_PAD.decode_to_vec(field?).ok()?;
    // Some issuers write a leading zero, which the verifier would refuse.
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes.drain(..zeros);
    (!bytes.is_empty()).then_some(bytes)
}

/// More keys than any issuer has; a longer list would only slow the search.
const MAX_KEYS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, usable: bool) {
        let set = KeySet::parse(format!("{{\"keys\":[{key}]}}").as_bytes()).unwrap();
        assert_eq!(set.0.len(), usize::from(usable), "{key}");
    }

    #[test]
    fn keys_for_other_uses_and_of_other_kinds_are_passed_over() {
        let x = URL_SAFE_NO_PAD.encode_to_string([1; 32]);
        check(
            &format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}"}}"#),
            true,
        );
        check(
            &format!(r#"{{"kty":"EC","crv":"P-256","x":"{x}","y":"{x}","key_ops":["verify"]}}"#),
            true,
        );
        check(r#"{"kty":"RSA","n":"AQAB","e":"AAEAAQ","use":"sig"}"#, true);
        check(r#"{"kty":"RSA","n":"AQAB","e":"AQAB","use":"enc"}"#, false);
        check(
            r#"{"kty":"RSA","n":"AQAB","e":"AQAB","key_ops":["sign"]}"#,
            false,
        );
        check(
            r#"{"kty":"RSA","n":"AQAB","e":"AQAB","alg":"HS256"}"#,
            false,
        );
        check(r#"{"kty":"RSA","n":"","e":"AQAB"}"#, false);
        check(r#"{"kty":"oct","k":"AQAB"}"#, false);
        check(
            &format!(r#"{{"kty":"EC","crv":"P-384","x":"{x}","y":"{x}"}}"#),
            false,
        );
        check(&format!(r#"{{"kty":"EC","crv":"P-256","x":"{x}"}}"#), false);
        check(r#"{"kty":7}"#, false);
        check("null", false);
    }

    #[test]
    fn a_token_that_names_no_key_gets_one_only_when_there_is_no_choice() {
        let x = URL_SAFE_NO_PAD.encode_to_string([1; 32]);
        let key = |id: &str| format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}","kid":"{id}"}}"#);
        let set = |keys: &[String]| {
            KeySet::parse(format!(r#"{{"keys":[{}]}}"#, keys.join(",")).as_bytes()).unwrap()
        };
        let one = set(&[key("a")]);
        let two = set(&[key("a"), key("b")]);
        assert!(matches!(one.find(None, Algorithm::EdDsa), Found::Key(_)));
        assert!(matches!(two.find(None, Algorithm::EdDsa), Found::Unknown));
        assert!(matches!(
            two.find(Some("b"), Algorithm::EdDsa),
            Found::Key(_)
        ));
        assert!(matches!(
            two.find(Some("b"), Algorithm::Es256),
            Found::Unfit
        ));
        assert!(matches!(
            two.find(Some("c"), Algorithm::EdDsa),
            Found::Unknown
        ));
    }

    #[test]
    fn a_document_without_a_list_of_keys_is_an_error() {
        assert!(KeySet::parse(b"{}").is_err());
        assert!(KeySet::parse(b"").is_err());
        assert!(KeySet::parse(br#"{"keys":[]}"#).is_ok());
    }
}
