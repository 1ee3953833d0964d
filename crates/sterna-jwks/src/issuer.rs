//! Keys of an issuer that is known by its name alone.

use std::sync::Arc;

use bytes::Bytes;
use http::Uri;
use rustls::RootCertStore;
use serde::Deserialize;
use sterna_http::auth::{JwksSource, Loading, SourceError};

use crate::url::{JwksUrl, UrlError, native_roots};

/// The key set of an issuer, found through the metadata that it publishes
/// (RFC 8414, OpenID Connect Discovery).
///
/// The metadata is fetched with every load, because an issuer may move its keys.
/// It must name the issuer letter by letter, and an issuer at an `https` address
/// must have its keys at one.
///
/// # Examples
///
/// ```
/// use sterna_jwks::IssuerKeys;
///
/// let keys = IssuerKeys::new("https://login.example.com/tenant");
/// # if !matches!(keys, Err(sterna_jwks::UrlError::NoRoots)) {
/// assert!(keys.is_ok());
/// # }
/// assert!(IssuerKeys::new("http://login.example.com").is_err());
/// ```
#[derive(Clone)]
pub struct IssuerKeys {
    issuer: String,
    roots: Arc<RootCertStore>,
    places: Vec<JwksUrl>,
}

impl IssuerKeys {
    /// Finds the keys of `issuer`, trusting the certificates this machine trusts.
    ///
    /// # Errors
    ///
    /// [`UrlError`] says what is wrong with the issuer or the machine.
    pub fn new(issuer: &str) -> Result<Self, UrlError> {
        let roots = native_roots(issuer)?;
        let places = well_known(issuer).ok_or_else(|| UrlError::Address(issuer.to_owned()))?;
        let place = |url: &String| JwksUrl::with_roots(url, roots.clone());
        Ok(Self {
            issuer: issuer.to_owned(),
            places: places.iter().map(place).collect::<Result<_, _>>()?,
            roots: Arc::new(roots),
        })
    }

    async fn find(self) -> Result<Bytes, SourceError> {
        let mut failure = None;
        for place in &self.places {
            let read = place.load().await.and_then(|text| self.keys_of(&text));
            match read {
                Ok(keys) => return keys.load().await,
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        Err(failure.expect("an issuer has two places at least"))
    }

    /// Reads where the keys are.
    fn keys_of(&self, metadata: &[u8]) -> Result<JwksUrl, SourceError> {
        let found: Metadata = serde_json::from_slice(metadata).map_err(SourceError::new)?;
        if found.issuer != self.issuer {
            return Err(SourceError::new("the metadata names another issuer"));
        }
        if self.issuer.starts_with("https:") && !found.jwks_uri.starts_with("https:") {
            return Err(SourceError::new("the keys are not at an https address"));
        }
        JwksUrl::with_roots(&found.jwks_uri, RootCertStore::clone(&self.roots))
            .map_err(SourceError::new)
    }
}

impl JwksSource for IssuerKeys {
    fn load(&self) -> Loading {
        Box::pin(self.clone().find())
    }
}

impl std::fmt::Debug for IssuerKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "IssuerKeys({})", self.issuer)
    }
}

/// The members of an issuer's metadata that lead to its keys.
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

/// Places of an issuer's metadata, in the order in which they are tried.
fn well_known(issuer: &str) -> Option<Vec<String>> {
    let uri: Uri = issuer.parse().ok()?;
    let origin = format!("{}://{}", uri.scheme_str()?, uri.authority()?);
    if issuer.contains(['?', '#']) {
        return None;
    }
    let path = uri.path().trim_end_matches('/');
    let mut places = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        places.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// An issuer that answers requests by their paths, each with `ISSUER` put in,
    /// and the result of a load from it.
    async fn check(path: &str, answers: &[(&str, &str)]) -> Result<String, String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}{path}", listener.local_addr().unwrap());
        let keys = IssuerKeys::new(&issuer).unwrap();
        let serving = async {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = vec![0; 4096];
                let size = stream.read(&mut request).await.unwrap();
                let request = String::from_utf8_lossy(&request[..size]).into_owned();
                let asked = request.split(' ').nth(1).unwrap();
                let answer = answers.iter().find(|(known, _)| *known == asked);
                let (status, body) = match answer {
                    Some((_, body)) => (200, body.replace("ISSUER", &issuer)),
                    None => (404, String::new()),
                };
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 {status} As told\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        };
        let loaded = tokio::select! {
            loaded = keys.load() => loaded,
            () = serving => unreachable!("it serves for ever"),
        };
        match loaded {
            Ok(document) => Ok(String::from_utf8(document.to_vec()).unwrap()),
            Err(error) => Err(std::error::Error::source(&error).unwrap().to_string()),
        }
    }

    #[tokio::test]
    async fn keys_are_found_through_the_metadata_of_either_kind() {
        let metadata = r#"{"issuer":"ISSUER","jwks_uri":"ISSUER/keys"}"#;
        let found = Ok("the keys".to_owned());
        for place in [
            "/.well-known/oauth-authorization-server/a",
            "/.well-known/openid-configuration/a",
            "/a/.well-known/openid-configuration",
        ] {
            let answers = [(place, metadata), ("/a/keys", "the keys")];
            assert_eq!(check("/a", &answers).await, found, "{place}");
        }
        let place = "/.well-known/openid-configuration";
        assert_eq!(
            check("", &[(place, metadata), ("/keys", "the keys")]).await,
            found
        );
    }

    #[tokio::test]
    async fn metadata_of_another_issuer_is_not_believed() {
        let place = "/.well-known/oauth-authorization-server";
        let other = r#"{"issuer":"ISSUER/","jwks_uri":"ISSUER/keys"}"#;
        let refused = check("", &[(place, other), ("/keys", "keys")]).await;
        assert_eq!(refused, Err("the metadata names another issuer".to_owned()));
        let missing = check("", &[]).await;
        assert_eq!(missing, Err("the answer's status is 404".to_owned()));
        let away = r#"{"issuer":"ISSUER","jwks_uri":"http://login.example.com/keys"}"#;
        assert!(check("", &[(place, away)]).await.is_err());
    }

    #[test]
    fn keys_of_an_issuer_with_tls_are_not_fetched_without_it() {
        let keys = IssuerKeys {
            issuer: "https://login.example.com".to_owned(),
            roots: Arc::new(RootCertStore::empty()),
            places: Vec::new(),
        };
        let metadata =
            br#"{"issuer":"https://login.example.com","jwks_uri":"http://127.0.0.1/keys"}"#;
        assert!(keys.keys_of(metadata).is_err());
    }

    #[test]
    fn what_is_no_issuer_is_refused() {
        for issuer in [
            "",
            "login",
            "ftp://localhost",
            "http://a.example",
            "https://a?b",
        ] {
            assert!(IssuerKeys::new(issuer).is_err(), "{issuer}");
        }
    }
}
