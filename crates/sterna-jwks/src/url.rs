//! The address of a key set.

use std::net::IpAddr;
use std::sync::Arc;

use http::Uri;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use sterna_http::auth::{JwksSource, Loading};
use tokio_rustls::TlsConnector;

use crate::fetch::fetch;

/// A key set at an `https` address, or at an `http` one on this machine.
///
/// Redirects are not followed: the address is the one the operator trusts.
#[derive(Clone)]
pub struct JwksUrl {
    uri: Uri,
    tls: Option<TlsConnector>,
}

impl JwksUrl {
    /// Fetches from `url`, trusting the certificates this machine trusts.
    ///
    /// # Errors
    ///
    /// [`UrlError`] says what is wrong with the address or the machine.
    pub fn new(url: &str) -> Result<Self, UrlError> {
        Self::with_roots(url, native_roots(url)?)
    }

    /// Fetches from `url`, trusting the authorities whose certificates are in
    /// `pem` and no others: for an authorization server inside a company.
    ///
    /// # Errors
    ///
    /// [`UrlError::NoRoots`] when there is no certificate in `pem`.
    pub fn trusting(url: &str, pem: &[u8]) -> Result<Self, UrlError> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| UrlError::Tls(error.into()))?;
            let added = roots.add(certificate);
            added.map_err(|error| UrlError::Tls(error.into()))?;
        }
        if roots.is_empty() {
            return Err(UrlError::NoRoots);
        }
        Self::with_roots(url, roots)
    }

    pub(crate) fn with_roots(url: &str, roots: RootCertStore) -> Result<Self, UrlError> {
        let refused = || UrlError::Address(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| refused())?;
        let host = uri.host().ok_or_else(refused)?;
        let tls = match uri.scheme_str() {
            Some("https") => Some(connector(roots)?),
            Some("http") if is_loopback(host) => None,
            _ => return Err(refused()),
        };
        Ok(Self { uri, tls })
    }
}

impl JwksSource for JwksUrl {
    fn load(&self) -> Loading {
        Box::pin(fetch(self.uri.clone(), self.tls.clone()))
    }
}

impl std::fmt::Debug for JwksUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JwksUrl({})", self.uri)
    }
}

/// The keys cannot be fetched from there; correct the configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// The address is neither `https` nor `http` on this machine.
    #[error("{0:?} is neither an https address nor an http address on this machine")]
    Address(String),
    /// There is no certificate to trust.
    #[error("no certificate authority is trusted on this machine")]
    NoRoots,
    /// TLS could not be set up.
    #[error("TLS could not be set up")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The certificates that this machine trusts, if `url` needs them.
pub(crate) fn native_roots(url: &str) -> Result<RootCertStore, UrlError> {
    let mut roots = RootCertStore::empty();
    if !url.starts_with("http:") {
        let found = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            return Err(UrlError::NoRoots);
        }
    }
    Ok(roots)
}

fn connector(roots: RootCertStore) -> Result<TlsConnector, UrlError> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| UrlError::Tls(error.into()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use rcgen::{CertifiedKey, generate_simple_self_signed};
    use rustls::ServerConfig;
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;

    async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin, text: &str) -> String {
        let mut request = vec![0; 4096];
        let size = stream.read(&mut request).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        String::from_utf8(request[..size].to_vec()).unwrap()
    }

    async fn check(text: &str) -> Result<String, String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let source = JwksUrl::new(&format!("http://{address}/keys?v=1")).unwrap();
        let served = async {
            let (stream, _) = listener.accept().await.unwrap();
            answer(stream, text).await
        };
        let (loaded, request) = tokio::join!(source.load(), served);
        let expected = format!("GET /keys?v=1 HTTP/1.1\r\nhost: {address}\r\n");
        assert!(request.starts_with(&expected), "{request}");
        match loaded {
            Ok(document) => Ok(String::from_utf8(document.to_vec()).unwrap()),
            Err(error) => Err(std::error::Error::source(&error).unwrap().to_string()),
        }
    }

    #[tokio::test]
    async fn a_document_is_fetched_and_nothing_but_a_document() {
        let good = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(check(good).await, Ok("{}".to_owned()));
        let moved = "HTTP/1.1 302 Found\r\nLocation: http://evil.example/\r\n\r\n";
        let status = Err("the answer's status is 302".to_owned());
        assert_eq!(check(moved).await, status);
        let long = "HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n";
        let too_long = Err("the answer is too long".to_owned());
        assert_eq!(
            check(&(long.to_owned() + &"x".repeat(600_000))).await,
            too_long
        );
        assert!(
            check("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}")
                .await
                .is_err()
        );
    }

    #[tokio::test]
    async fn a_certificate_is_believed_only_from_a_trusted_authority_for_that_name() {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let provider = Arc::new(ring::default_provider());
        let server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key.into())
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(server));
        let mut trusting = RootCertStore::empty();
        trusting.add(cert.der().clone()).unwrap();
        for (roots, host, trusted) in [
            (trusting.clone(), "localhost", true),
            (trusting, "127.0.0.1", false),
            (RootCertStore::empty(), "localhost", false),
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let port = listener.local_addr().unwrap().port();
            let source = JwksUrl::with_roots(&format!("https://{host}:{port}/keys"), roots);
            let served = async {
                let (stream, _) = listener.accept().await.unwrap();
                if let Ok(stream) = acceptor.accept(stream).await {
                    let good = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
                    answer(stream, good).await;
                }
            };
            let (loaded, ()) = tokio::join!(source.unwrap().load(), served);
            assert_eq!(loaded.is_ok(), trusted, "{host}");
        }
    }

    #[test]
    fn keys_are_not_fetched_over_an_open_line() {
        for url in [
            "http://login.example.com/keys",
            "http://localhost.evil.example/keys",
            "ftp://localhost/keys",
            "/keys",
            "https://",
            "",
        ] {
            let source = JwksUrl::with_roots(url, RootCertStore::empty());
            assert!(source.is_err(), "{url}");
        }
        for url in [
            "http://[::1]:80/keys",
            "http://127.0.0.1/keys",
            "https://a.example",
        ] {
            let source = JwksUrl::with_roots(url, RootCertStore::empty());
            assert!(source.is_ok(), "{url}");
        }
    }
}
