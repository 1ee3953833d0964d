//! A web site of a few lines: one function from request to reply.

use std::future::Future;
use std::sync::LazyLock;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use http::StatusCode;
use http::header::{CONTENT_TYPE, LOCATION};
use http::request::Parts;
use rustls::crypto::ring;
use serde_json::Value;
use tokio::net::TcpListener;

/// A request, read to its end.
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) head: Parts,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.headers.get(name)?.to_str().ok()
    }
}

/// An answer.
#[derive(Default)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Body,
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self {
            status: StatusCode::from_u16(status).unwrap(),
            ..Self::default()
        }
    }

    pub(crate) fn json(status: u16, value: &Value) -> Self {
        Self::status(status)
            .with(CONTENT_TYPE.as_str(), "application/json")
            .body(value.to_string())
    }

    pub(crate) fn redirect(to: impl Into<String>) -> Self {
        Self::status(302).with(LOCATION.as_str(), to)
    }

    pub(crate) fn body(mut self, body: impl Into<Body>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// Serves until the test ends, at the origin that is returned.
pub(crate) async fn serve<F, Fut>(answer: F) -> String
where
    F: Fn(Asked) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Reply> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let app = app(answer);
    #[expect(
        clippy::disallowed_methods,
        reason = "the server lives as long as the test's runtime, which owns it"
    )]
    tokio::spawn(async { axum::serve(listener, app).await.unwrap() });
    origin
}

/// The site itself, wherever it is served.
pub(crate) fn app<F, Fut>(answer: F) -> Router
where
    F: Fn(Asked) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Reply> + Send + 'static,
{
    Router::new().fallback(move |request: Request| {
        let answer = answer.clone();
        async move { respond(answer(read(request).await).await) }
    })
}

async fn read(request: Request) -> Asked {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    Asked {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        head: parts,
        body: String::from_utf8(body.to_vec()).unwrap(),
    }
}

fn respond(reply: Reply) -> Response {
    let mut response = Response::builder().status(reply.status);
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(reply.body).unwrap()
}

/// The HTTP client of the transport in these tests.
pub(crate) fn client() -> &'static reqwest::Client {
    static CLIENT: LazyLock<reqwest::Client> = LazyLock::new(|| {
        let tls = rustls::ClientConfig::builder_with_provider(ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        let builder = reqwest::Client::builder().tls_backend_preconfigured(tls);
        // A pooled connection would belong to the runtime of another test.
        builder
            .no_proxy()
            .pool_max_idle_per_host(0)
            .build()
            .unwrap()
    });
    &CLIENT
}
