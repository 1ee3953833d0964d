//! Small, bounded HTTP exchanges with servers that are not trusted.

use std::sync::{Arc, OnceLock};

use http::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderValue, StatusCode};
use reqwest::{Client, RequestBuilder, redirect};
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;
use zeroize::Zeroizing;

use crate::config::Config;
use crate::document::Document;
use crate::endpoint::{Endpoint, Reach};
use crate::error::Fault;
use crate::printable::printable;

/// Fetches documents and posts forms, within limits of size, time and reach.
#[derive(Debug)]
pub(crate) struct Http {
    /// For this machine: local requests do not go through a proxy.
    local: Client,
    remote: Client,
    reach: Reach,
    max_bytes: usize,
}

impl Http {
    pub(crate) fn new(reach: Reach, config: &Config) -> Result<Self, Fault> {
        let tls = client_config().map_err(|error| Fault::Tls(error.into()))?;
        let builder = || {
            Client::builder()
                .tls_backend_preconfigured(tls.clone())
                .user_agent(concat!("sterna/", env!("CARGO_PKG_VERSION")))
                .timeout(config.request_timeout)
                .redirect(redirect::Policy::none())
        };
        let failed = |error: reqwest::Error| Fault::Tls(error.into());
        Ok(Self {
            local: builder().no_proxy().build().map_err(failed)?,
            remote: builder().build().map_err(failed)?,
            reach,
            max_bytes: config.max_response_bytes,
        })
    }

    /// The same client, for URLs with another reach.
    pub(crate) fn reaching(&self, reach: Reach) -> Self {
        Self {
            local: self.local.clone(),
            remote: self.remote.clone(),
            reach,
            max_bytes: self.max_bytes,
        }
    }

    /// Accepts a URL that a peer has named; see [`Reach::check`].
    pub(crate) fn endpoint(&self, what: &'static str, url: &str) -> Result<Endpoint, Fault> {
        self.reach.check(what, url)
    }

    /// Fetches a public document.
    ///
    /// Redirects are followed a few times and only within one origin: a
    /// trailing slash is forgiven, speaking for another server is not.
    pub(crate) async fn get(&self, endpoint: &Endpoint) -> Result<HttpResponse, Fault> {
        let mut place = endpoint.clone();
        for _ in 0..=MAX_REDIRECTS {
            let request = self.client(&place).get(place.url().clone());
            let answer = self
                .send(&place, request.header(ACCEPT, "application/json"))
                .await?;
            let Some(target) = answer.redirect() else {
                return Ok(answer);
            };
            let next = place
                .url()
                .join(target)
                .ok()
                .filter(|next| next.origin() == endpoint.url().origin());
            place = match next {
                Some(next) => self.endpoint("redirect target", next.as_str())?,
                None => {
                    return Err(Fault::Redirected {
                        to: printable(target),
                    });
                }
            };
        }
        Err(Fault::Redirected {
            to: printable(place.url().as_str()),
        })
    }

    /// Posts a body that holds credentials; a redirect is an answer like any other.
    pub(crate) async fn post(
        &self,
        endpoint: &Endpoint,
        headers: HeaderMap,
        content_type: HeaderValue,
        body: &str,
    ) -> Result<HttpResponse, Fault> {
        let request = self
            .client(endpoint)
            .post(endpoint.url().clone())
            .headers(headers)
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, content_type)
            .body(body.to_owned());
        self.send(endpoint, request).await
    }

    fn client(&self, endpoint: &Endpoint) -> &Client {
        match Reach::of(endpoint.url()) {
            Reach::Loopback => &self.local,
            Reach::Network => &self.remote,
        }
    }

    async fn send(
        &self,
        endpoint: &Endpoint,
        request: RequestBuilder,
    ) -> Result<HttpResponse, Fault> {
        let unreachable = |error: reqwest::Error| Fault::Unreachable {
            host: endpoint.host(),
            source: error.without_url().into(),
        };
        let mut response = request.send().await.map_err(unreachable)?;
        let mut body = Zeroizing::new(Vec::new());
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > self.max_bytes {
                return Err(Fault::TooLarge {
                    limit: self.max_bytes,
                });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(HttpResponse {
            status: response.status(),
            headers: std::mem::take(response.headers_mut()),
            body,
        })
    }
}

/// A whole answer, small enough to be held.
pub(crate) struct HttpResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Zeroizing<Vec<u8>>,
}

impl HttpResponse {
    pub(crate) fn document(&self) -> Result<Document, Fault> {
        Document::parse(&self.body)
    }

    /// Reads the answer of a token or registration endpoint, whose errors are
    /// documents too (RFC 6749 section 5.2).
    pub(crate) fn granted(&self) -> Result<Document, Fault> {
        if self.status.is_success() {
            return self.document();
        }
        let code = match self.document() {
            Ok(document) if self.status.is_client_error() => {
                let read = |name| document.text(name).ok().flatten().map(printable);
                read("error").map(|code| (code, read("error_description")))
            }
            _ => None,
        };
        Err(match code {
            Some((code, description)) => Fault::Refused { code, description },
            None => Fault::Status(self.status.as_u16()),
        })
    }

    fn redirect(&self) -> Option<&str> {
        let moved = matches!(self.status.as_u16(), 301 | 302 | 303 | 307 | 308);
        let target = self.headers.get(LOCATION).filter(|_| moved)?;
        target.to_str().ok()
    }
}

/// Returns TLS settings that trust the certificates of the operating system.
///
/// The provider is named here instead of being installed for the process: that
/// choice belongs to the application. ALPN is left empty; a transport that
/// wants HTTP/2 adds it. The system's certificates are read once per process,
/// because that takes longer than anything else here.
///
/// # Errors
///
/// If the certificates of the operating system cannot be read.
pub fn client_config() -> Result<ClientConfig, rustls::Error> {
    static CONFIG: OnceLock<ClientConfig> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(config.clone());
    }
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    Ok(CONFIG.get_or_init(|| config).clone())
}

const MAX_REDIRECTS: usize = 3;
