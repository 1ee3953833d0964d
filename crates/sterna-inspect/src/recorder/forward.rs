//! One request of the client: checked, sent on, and its response returned.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    CONNECTION, CONTENT_TYPE, HOST, HeaderName, ORIGIN, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION,
    TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use reqwest::{Client, redirect};
use sterna_client::{BoxError, Direction};
use sterna_oauth::internal::{client_config, is_loopback};
use thiserror::Error;
use url::Url;

use super::recordings::Recordings;
use super::tee::Tee;

/// Bytes on their way to the client.
pub(super) type ProxyBody = UnsyncBoxBody<Bytes, BoxError>;

/// The server that requests are sent on to.
#[derive(Debug)]
pub(crate) struct Upstream {
    client: Client,
    target: Url,
    /// Port of the proxy, which `Host` must name.
    port: u16,
}

/// Requests cannot be sent on.
#[derive(Debug, Error)]
pub(crate) enum UpstreamError {
    #[error("there is no way to connect with TLS")]
    Tls(#[source] BoxError),
    #[error("`{0}` is no http or https address, and only those can be recorded")]
    Url(String),
}

impl Upstream {
    pub(super) fn new(target: &str, port: u16) -> Result<Self, UpstreamError> {
        let wrong = || UpstreamError::Url(target.to_owned());
        let target = Url::parse(target).map_err(|_| wrong())?;
        if !matches!(target.scheme(), "http" | "https") || target.host().is_none() {
            return Err(wrong());
        }
        let tls = client_config().map_err(|error| UpstreamError::Tls(error.into()))?;
        let mut client = Client::builder();
        if is_loopback(&target) {
            client = client.no_proxy();
        }
        let client = client
            .tls_backend_preconfigured(tls)
            // The client decides where it goes, and sees what the server said.
            .redirect(redirect::Policy::none())
            .http1_only()
            .build()
            .map_err(|error| UpstreamError::Tls(error.into()))?;
        Ok(Self {
            client,
            target,
            port,
        })
    }

    pub(super) fn path(&self) -> &str {
        self.target.path()
    }

    /// Sends a request on, and returns its response as it comes.
    pub(super) async fn forward(
        &self,
        request: Request<Incoming>,
        recordings: Arc<Recordings>,
    ) -> Response<ProxyBody> {
        let (head, body) = request.into_parts();
        if let Err(refusal) = self.check(&head.method, &head.uri, &head.headers) {
            return refusal.into_response();
        }
        let Some(url) = self.url_of(&head.uri) else {
            return ForwardRefusal::Path.into_response();
        };
        let exchange = recordings.begin(&head.method, url.path(), &head.headers);
        let tap = recordings.tap(exchange, Direction::Sent, &head.headers, None);
        let body = Tee::new(body.map_err(BoxError::from), tap);
        let mut sent = self.client.request(head.method, url);
        sent = sent.headers(end_to_end(&head.headers));
        match sent.body(reqwest::Body::wrap(body)).send().await {
            Ok(response) => {
                let (mut head, body) = Response::from(response).into_parts();
                let status = Some(head.status.as_u16());
                let tap = recordings.tap(exchange, Direction::Received, &head.headers, status);
                recordings.answered(exchange, head.status);
                head.headers = end_to_end(&head.headers);
                let body = Tee::new(body.map_err(BoxError::from), tap);
                Response::from_parts(head, body.boxed_unsync())
            }
            Err(error) => {
                recordings.failed(exchange, &error);
                ForwardRefusal::Unreachable.into_response()
            }
        }
    }

    /// Lets nothing in that a page of another site could have sent: the server
    /// sees our address and can no longer tell.
    fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), ForwardRefusal> {
        if *method == Method::CONNECT || headers.contains_key(UPGRADE) {
            return Err(ForwardRefusal::Method);
        }
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(ForwardRefusal::Host);
        };
        if !self.is_own_name(host) || uri.authority().is_some_and(|name| !self.is_own(name)) {
            return Err(ForwardRefusal::Host);
        }
        match headers.get_all(ORIGIN).iter().all(is_local_origin) {
            true => Ok(()),
            false => Err(ForwardRefusal::Origin),
        }
    }

    fn is_own_name(&self, host: &HeaderValue) -> bool {
        let authority = host.to_str().ok().and_then(|text| text.parse().ok());
        authority.is_some_and(|name| self.is_own(&name))
    }

    fn is_own(&self, name: &Authority) -> bool {
        is_loopback_name(name.host()) && name.port_u16().unwrap_or(80) == self.port
    }

    /// The address at the server: the target itself, what lies below it, and the
    /// documents by which clients find out how to sign in.
    fn url_of(&self, uri: &Uri) -> Option<Url> {
        let (path, base) = (uri.path(), self.target.path());
        let below = path.strip_prefix(base.trim_end_matches('/'));
        let is_below = below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if !is_below && !path.starts_with("/.well-known/") {
            return None;
        }
        let mut url = self.target.clone();
        url.set_path(path);
        if uri.query().is_some() || path != base {
            url.set_query(uri.query());
        }
        Some(url)
    }
}

fn is_loopback_name(host: &str) -> bool {
    matches!(host, "127.0.0.1" | "[::1]") || host.eq_ignore_ascii_case("localhost")
}

fn is_local_origin(origin: &HeaderValue) -> bool {
    let url = origin.to_str().ok().and_then(|text| Url::parse(text).ok());
    url.is_some_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.host_str().is_some_and(is_loopback_name)
    })
}

/// The header fields that are not about one connection only.
fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let listed: Vec<String> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let of_connection = [
        CONNECTION,
        HOST,
        KEEP_ALIVE,
        PROXY_AUTHENTICATE,
        PROXY_AUTHORIZATION,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
        UPGRADE,
    ];
    let mut kept = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let is_listed = listed.iter().any(|listed| listed == name.as_str());
        if !is_listed && !of_connection.contains(name) {
            kept.append(name.clone(), value.clone());
        }
    }
    kept
}

/// Reason why a request is not sent on.
#[derive(Clone, Copy, Debug)]
enum ForwardRefusal {
    Host,
    Method,
    Origin,
    Path,
    Unreachable,
}

impl ForwardRefusal {
    fn into_response(self) -> Response<ProxyBody> {
        let (status, text) = match self {
            Self::Host => (
                StatusCode::FORBIDDEN,
                "this name is not that of the recorder",
            ),
            Self::Method => (StatusCode::METHOD_NOT_ALLOWED, "this cannot be recorded"),
            Self::Origin => (StatusCode::FORBIDDEN, "pages of other sites may not call"),
            Self::Path => (StatusCode::NOT_FOUND, "only the recorded address is served"),
            Self::Unreachable => (StatusCode::BAD_GATEWAY, "the server cannot be reached"),
        };
        let text = Full::new(Bytes::from(format!("sterna inspect --record: {text}\n")));
        let mut response = Response::new(text.map_err(|never| match never {}).boxed_unsync());
        *response.status_mut() = status;
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, plain);
        response
    }
}

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream() -> Upstream {
        Upstream::new("https://example.com/mcp?key=1", 8700).unwrap()
    }

    #[track_caller]
    fn goes_to(uri: &str, expected: Option<&str>) {
        let url = upstream().url_of(&uri.parse().unwrap());
        assert_eq!(url.as_ref().map(Url::as_str), expected, "{uri}");
    }

    #[test]
    fn only_the_target_and_what_belongs_to_it_is_reached() {
        goes_to("/mcp", Some("https://example.com/mcp?key=1"));
        goes_to("/mcp?a=b", Some("https://example.com/mcp?a=b"));
        goes_to("/mcp/more", Some("https://example.com/mcp/more"));
        let metadata = "/.well-known/oauth-protected-resource/mcp";
        goes_to(metadata, Some(&format!("https://example.com{metadata}")));
        goes_to("/mcpx", None);
        goes_to("/", None);
        goes_to("/admin", None);
        // The name in an absolute address is checked and not followed.
        goes_to(
            "http://evil.test/mcp",
            Some("https://example.com/mcp?key=1"),
        );
    }

    #[test]
    fn other_names_and_pages_are_refused() {
        let upstream = upstream();
        let check = |headers: &[(HeaderName, &'static str)], uri: &str| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(name.clone(), HeaderValue::from_static(value));
            }
            upstream
                .check(&Method::POST, &uri.parse().unwrap(), &map)
                .is_ok()
        };
        for host in [
            "127.0.0.1:8700",
            "localhost:8700",
            "LOCALHOST:8700",
            "[::1]:8700",
        ] {
            assert!(check(&[(HOST, host)], "/mcp"), "{host}");
        }
        for host in [
            "evil.test:8700",
            "127.0.0.1:8701",
            "127.0.0.1",
            "",
            "a b",
            "127.0.0.1.evil.test:8700",
        ] {
            assert!(!check(&[(HOST, host)], "/mcp"), "{host}");
        }
        assert!(!check(&[], "/mcp"));
        let own = (HOST, "127.0.0.1:8700");
        assert!(!check(&[own.clone(), (HOST, "evil.test")], "/mcp"));
        assert!(!check(
            std::slice::from_ref(&own),
            "http://evil.test:8700/mcp"
        ));
        assert!(!check(&[own.clone(), (UPGRADE, "websocket")], "/mcp"));
        for origin in [
            "http://localhost:6274",
            "http://127.0.0.1:1",
            "https://[::1]",
        ] {
            assert!(check(&[own.clone(), (ORIGIN, origin)], "/mcp"), "{origin}");
        }
        for origin in [
            "https://evil.test",
            "null",
            "http://localhost.evil.test",
            "file://",
            "",
        ] {
            assert!(!check(&[own.clone(), (ORIGIN, origin)], "/mcp"), "{origin}");
        }
    }

    #[test]
    fn header_fields_of_a_connection_stay_on_it() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "keep-alive, X-Mine"),
            ("x-mine", "1"),
            ("keep-alive", "timeout=5"),
            ("transfer-encoding", "chunked"),
            ("host", "127.0.0.1:8700"),
            ("authorization", "Bearer t"),
            ("x-twice", "a"),
            ("x-twice", "b"),
        ] {
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, HeaderValue::from_static(value));
        }
        let kept = end_to_end(&headers);
        let kept: Vec<_> = kept.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(kept, ["authorization", "x-twice", "x-twice"]);
    }
}
